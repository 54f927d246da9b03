import type { WorkflowView } from "../../api/workflows.ts";

/** Something that loading or verify says about a workflow, at a line of its text. */
export interface TextNote {
  readonly level: "error" | "warning" | "note";
  /** From 1; 0 if it is about the whole text. */
  readonly line: number;
  /** Empty if it is about none. */
  readonly state: string;
  readonly text: string;
  readonly fix: string;
  /** The shortest example. */
  readonly steps: readonly string[];
}

/** Problems have lines; what verify finds has a state, whose line in the text is looked for. */
export function notesOf({
  text,
  problems,
  proof,
}: Pick<WorkflowView, "text" | "problems" | "proof">): readonly TextNote[] {
  const findings = proof.result?.findings ?? [];
  const notes = [
    ...problems.map(({ level, line, message, fix }) => ({ level, line, state: "", text: message, fix, steps: [] })),
    ...findings.map(({ level, state, message, fix, steps }) => ({
      ...{ level, state, text: message, fix, steps },
      line: state === "" ? 0 : lineOfState(text, state),
    })),
  ];
  return notes.sort((a, b) => ranks[a.level] - ranks[b.level] || a.line - b.line);
}

const ranks = { error: 0, warning: 1, note: 2 } as const;

/** The line at which a state begins: its name as a key below `states`. 0 if the text has none. */
export function lineOfState(text: string, state: string): number {
  let isInside = false;
  for (const [i, line] of text.split("\n").entries()) {
    if (/^\S/.test(line) && !line.startsWith("#")) isInside = /^states\s*:/.test(line);
    const [, quoted, plain] = /^ +(?:(["'])(.*?)\1|([^\s#:"'][^:]*?))\s*:/.exec(line)?.slice(1) ?? [];
    if (isInside && (quoted ?? plain) === state) return i + 1;
  }
  return 0;
}
