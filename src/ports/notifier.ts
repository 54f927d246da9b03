/** Tells the person something, wherever they are. */
export interface Notifier {
  /**
   * Resolves when the note was handed over; throws a Fault where it could not be: `notifier.slow` where it was, and whoever
   * shows it does not end.
   */
  notify(note: Note): Promise<void>;
}

/** Notifiers by the names that the person knows them by. */
export type Channels = ReadonlyMap<string, Notifier>;

export interface Note {
  /** One line. */
  readonly title: string;
  readonly text: string;
  /** The task's id; empty where the note is about several. */
  readonly task: string;
  /** Empty where the note is about tasks of several projects. */
  readonly project: string;
  /** The same whenever the same note is told again, so that whoever receives it can tell a repeat. */
  readonly key: string;
  /** The tasks that need a person, where the note is a call; missing in what a workflow tells. */
  readonly needs?: readonly NoteNeed[];
}

export interface NoteNeed {
  readonly task: string;
  /** `coffee#12`. */
  readonly name: string;
  readonly summary: string;
  readonly reason: string;
  readonly text: string;
  readonly command: string;
}
