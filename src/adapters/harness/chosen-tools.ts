import { type HarnessOrder, type ToolClass, toolClasses } from "../../ports/harness.ts";

export interface ChosenTools {
  readonly classes: ReadonlySet<ToolClass>;
  /** Tools that were asked for by their own name. */
  readonly names: readonly string[];
  /** Something is withheld. */
  readonly isLimited: boolean;
}

/** Sorts what an order says about tools into classes and names. */
export function chosenTools({ tools }: Pick<HarnessOrder, "tools">): ChosenTools {
  if (tools === undefined) return { classes: new Set(toolClasses), names: [], isLimited: false };
  const classes = new Set(toolClasses.filter((each) => tools.includes(each)));
  const names = tools.filter((each) => !(toolClasses as readonly string[]).includes(each));
  return { classes, names, isLimited: classes.size < toolClasses.length };
}
