import { Fault, tell } from "../../fault.ts";

/** A task's work that is to go into a branch of its project. */
export interface Entry {
  readonly task: string;
  readonly project: string;
  /** The branch that it goes into. */
  readonly target: string;
  readonly strategy: "merge" | "ff";
  /** Since when it is in line. The merge has this date, so that doing it again makes the same commit. */
  readonly at: number;
  readonly priority: number;
  /** Its workflow wants it, and nobody else has asked. */
  readonly isWorkflows?: boolean;
}

/** An entry with the work as it is now. */
export interface Ready extends Entry {
  readonly commit: string;
  readonly message: string;
}

/** How it ended. */
export type Landing =
  /** The branch contains the commit. Equal `before` and `after` mean that it did already. */
  | { readonly kind: "merged"; readonly commit: string; readonly before: string; readonly after: string }
  /** `files` are those that conflict. */
  | {
      readonly kind: "conflict" | "tests" | "refused";
      readonly reason: string;
      readonly files: readonly string[];
    };

/** Something is in the way, and the entry stays in line. */
export interface Waiting {
  readonly kind: "waits";
  readonly reason: string;
  readonly files: readonly string[];
}

/** `again`: nothing is known about it yet; its turn comes again. */
export type Outcome = Landing | Waiting | { readonly kind: "again" };

export function refused(reason: string): Landing {
  return { kind: "refused", reason, files: [] };
}

/** The task has moved on since somebody asked. */
export const unwanted = refused("It is not to be merged any more.");

/** What becomes of an entry where something failed: what may work later is tried later, about the rest the person is told. */
export function outcomeOf(error: unknown): Waiting | Landing {
  if (error instanceof Fault && error.retry === "later") return { kind: "waits", reason: tell(error), files: [] };
  return refused(error instanceof Fault ? tell(error) : error instanceof Error ? error.message : String(error));
}
