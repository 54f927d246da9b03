/** What scripted agents do, in the form of their script. */
export type Step = string | Readonly<Record<string, unknown>>;

export interface Turn {
  readonly when?: Readonly<Record<string, unknown>>;
  readonly times?: number;
  readonly steps: readonly Step[];
}

/** Turns by role. */
export type Behaviour = Readonly<Record<string, readonly Turn[]>>;

export const section = (heading: string, text: string): Step => ({ section: { heading: `## ${heading}`, text } });
export const update = (...args: readonly string[]): Step => ({ cli: ["task", "update", ...args] });
export const askFor = (status: string): Step => update("--status", status);
/** Hands in the task file of a role that works beside another. */
export const handIn: Step = update("--file", "{task_file}");
/** Asks for a state that will be refused, and continues. */
export const tryFor = (status: string): Step => ({ try: [askFor(status)] });

export const plan = section("Plan", "APPROACH: one small file.\nTOUCHING: cup.md");
export const build = (text: string): readonly Step[] => [
  { append: { file: "{branch}.md", text: `${text}\n` } },
  { commit: text },
];
export const handoff = (text: string): Step => section("Handoff", `DONE: ${text}`);
export const review = (verdict: "PASS" | "FAIL", text = "Look at the cup."): Step =>
  section("Review", `Verdict: ${verdict}\n\n${text}`);

/** Stays busy and does nothing more. */
export const busy: Turn = { steps: ["hang"] };
/** The same, and ignores requests to end. */
export const deaf: Turn = { steps: [{ hang: "deaf" }] };
/** Waits until the test says `go`, and stays busy. */
export const untilGo: Step = { run: ["sh", "-c", 'until [ -e "$HOME/go-$0" ]; do sleep 0.1; done', "{branch}"] };
/** Shows a dialog, and continues after a person has agreed. */
export const whenAllowed = (...yes: readonly Step[]): Step => ({ ask: { about: "May I?", yes } });
/** Is ready for input, and does nothing. */
export const quiet: Turn = { steps: [{ say: "I am listening." }] };

/** Steps of a turn for messages that come in this status. */
export const during = (status: string, ...steps: readonly Step[]): Turn => ({ when: { status }, steps });
/** Steps of a turn for messages that contain this. */
export const told = (prompt: string, ...steps: readonly Step[]): Turn => ({ when: { prompt }, steps });
