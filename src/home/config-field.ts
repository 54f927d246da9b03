import type { Shape } from "../engine/language/shape.ts";

/** Whose file it is: the user's, or one that a repository brings along. */
export type Level = "user" | "project";

export interface Field<Value = unknown> {
  /** As it is written in files and commands; a dot leads into a map. */
  readonly key: string;
  /** `project`: both kinds of file may have it. `user`: only the user's. */
  readonly level: Level;
  /** It is written as one types it. A repository's file that has it counts only after its user has trusted it. */
  readonly isCommand?: boolean;
  /** The environment of the daemon is that of whoever happened to start it, and may be an agent's. */
  readonly isDaemons?: boolean;
  readonly shape: Shape;
  readonly default: Value;
  readonly description: string;
  /** What is wrong with a value of the right form, as a sentence. */
  problem?(value: Value): string | undefined;
}
