import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-fields.ts";

/** Chats in which a person is asked and answers. */
export interface ChatConfig {
  /** The ids of the chats that may read questions and answer them; empty: Telegram is not used. */
  readonly chatTelegramChats: readonly (number | string)[];
  readonly chatTelegramTokenFile: string;
  readonly chatTelegramTokenEnv: string;
  readonly chatTelegramAddress: string;
}

const text: Shape = { kind: "text" };
const chatId: Shape = {
  kind: "either",
  options: [{ kind: "integer" }, { kind: "text", pattern: /^-?\d{1,20}$/, expected: "the id of a chat, a number" }],
  expected: "the id of a chat, a number",
};

export const chatFields: { readonly [Name in keyof ChatConfig]: Field<ChatConfig[Name]> } = {
  chatTelegramChats: {
    key: "chat.telegram.chats",
    level: "user",
    isDaemons: true,
    shape: { kind: "list", of: chatId },
    default: [],
    description:
      "The ids of the Telegram chats that get your tasks' questions; everybody in them answers as you; empty for none",
  },
  chatTelegramTokenFile: {
    key: "chat.telegram.token_file",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "",
    description: "The file with the bot's token, which only you can read; empty for the variable of token_env",
    problem: (path) => (path === "" || /^[/~]/.test(path) ? undefined : '"token_file" must begin with / or ~.'),
  },
  chatTelegramTokenEnv: {
    key: "chat.telegram.token_env",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "SIGNALBOX_TELEGRAM_TOKEN",
    description: "The environment variable of the daemon with the bot's token",
    // The value is not repeated: it may be the token itself.
    problem: (name) => (/^([A-Za-z_]\w*)?$/.test(name) ? undefined : '"token_env" must be the name of a variable.'),
  },
  chatTelegramAddress: {
    key: "chat.telegram.address",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "https://api.telegram.org",
    description: "The address of Telegram's Bot API, or of your own server for it",
    problem: (address) =>
      /^https?:$/.test(URL.parse(address)?.protocol ?? "") && !/[?#@]/.test(address)
        ? undefined
        : '"address" must be an http or https address.',
  },
};
