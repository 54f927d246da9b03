/** What one look brought to light. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  /** What is there, beside the name of the check. */
  readonly found: string;
  /** What to do about it: the exact commands, one on each line. Empty where there is nothing to do. */
  readonly fix: string;
  /** Mends it and says what it did. Only where nothing can be lost. */
  readonly mend?: () => string;
}

/** One thing that `doctor` looks at. */
export interface Check {
  readonly name: string;
  look(): readonly Finding[] | Promise<readonly Finding[]>;
}

type Mend = Finding["mend"];

export function ok(found: string, mend?: Mend): readonly Finding[] {
  return finding("ok", found, "", mend);
}

export function warning(found: string, fix: string, mend?: Mend): readonly Finding[] {
  return finding("warning", found, fix, mend);
}

export function error(found: string, fix: string, mend?: Mend): readonly Finding[] {
  return finding("error", found, fix, mend);
}

function finding(level: Finding["level"], found: string, fix: string, mend: Mend): readonly Finding[] {
  return [{ level, found, fix, ...(mend === undefined ? {} : { mend }) }];
}
