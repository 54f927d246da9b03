/** What the language knows of an action: its name, its parameters, and how it can end besides `ok` and `error`. */
export interface ActionDeclaration {
  readonly name: string;
  /** Imperative, without a full stop. */
  readonly summary: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly words: Readonly<Record<string, Word>>;
  /** A failure keeps the later effects of the task from being performed. */
  readonly holds: boolean;
  /** It happens in the task's workspace: one is acquired first where the task has none, or only made again where it is lost. */
  readonly inWorkspace?: "always" | "where-bound";
  /** A failure is only noted, also where it is a state's own work: nothing follows from it. */
  readonly failsSilently?: true;
  /**
   * What it begins, where it begins something. An ended task starts and tells no agent any more, whatever it owed before;
   * one that ended without its work makes, tests and publishes nothing of that work.
   */
  readonly begins?: "agent" | "work";
}

export interface Param {
  readonly type: ParamType;
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
}

/** text may hold {variables}; prompt, role, counter and result are names declared in the file. */
export type ParamType = "text" | "prompt" | "role" | "counter" | "result" | "integer" | "boolean" | "duration" | "list";

/** An answer is final; what is temporary may change by itself and is looked at again. */
export type Word = "answer" | "temporary";
