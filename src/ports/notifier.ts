/** Tells the person something, wherever they are. */
export interface Notifier {
  /** Resolves when the note was handed over; throws a Fault where it could not be. */
  notify(note: Note): Promise<void>;
}

export interface Note {
  /** One line. */
  readonly title: string;
  readonly text: string;
  /** The task's id. */
  readonly task: string;
  readonly project: string;
  /** The same whenever the same note is told again, so that whoever receives it can tell a repeat. */
  readonly key: string;
}
