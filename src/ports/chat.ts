/**
 * An account at a chat service, such as a Telegram bot, through which people read questions and answer them. Methods
 * throw a Fault; if it says when to try again (`retryAtOf`), the service has asked for that.
 */
export interface Chat {
  /** The service, as it is named in history and to people: `telegram`. */
  readonly service: string;
  /** Identifies the account. Offsets belong to it. Not a secret. */
  readonly account: string;
  /** Sends a plain text to a chat, and returns the id of the message. */
  send(message: OutgoingMessage): Promise<number>;
  /**
   * The messages from an offset on, the oldest first, and the next offset. Waits for a while if there are none. The
   * service forgets messages before the offset, and returns the others again until it is asked with a later one.
   */
  receive(offset: number, signal: AbortSignal): Promise<Received>;
}

export interface OutgoingMessage {
  /** The chat's id. */
  readonly chat: string;
  /** A longer text than the service accepts is cut. */
  readonly text: string;
  /** The message in this chat that it is a reply to. */
  readonly replyTo?: number;
  /** Without a sound. */
  readonly isSilent?: boolean;
}

export interface Received {
  readonly messages: readonly IncomingMessage[];
  readonly next: number;
}

export interface IncomingMessage {
  /** The offset after this message. */
  readonly next: number;
  readonly chat: string;
  /** Whether one person alone is in the chat. */
  readonly isPrivate: boolean;
  /** Increases within a chat, over the messages of all its members. */
  readonly id: number;
  /** The sender's name, as the service has it. */
  readonly from: string;
  /** Empty if the message is no text. */
  readonly text: string;
  /** The message that it is a reply to. */
  readonly repliesTo?: number;
}
