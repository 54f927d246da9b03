import type { Note, Notifier } from "../ports/notifier.ts";

/** A notifier that writes down what it was told, and fails when it is told to. */
export interface ScriptedNotifier extends Notifier {
  /** Everything it was told, the oldest first; also what it failed at. */
  readonly notes: readonly Note[];
  /** The next notes fail with these, one after the other. */
  failWith(...errors: readonly Error[]): void;
}

export function createScriptedNotifier(): ScriptedNotifier {
  const notes: Note[] = [];
  let failures: readonly Error[] = [];
  return {
    notes,
    failWith(...errors) {
      failures = errors;
    },
    async notify(note) {
      notes.push(note);
      const [error, ...rest] = failures;
      failures = rest;
      if (error !== undefined) throw error;
    },
  };
}
