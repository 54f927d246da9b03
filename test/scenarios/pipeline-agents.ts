import { type Behaviour, build, during, type Step, type Turn } from "./steps.ts";

export const says: Turn = { steps: [{ say: "It is done." }] };
/** Hands a document over. */
const packs: Step = {
  tool: {
    name: "work_complete",
    input: { summary: "Packed.", documents: [{ type: "pack", title: "The kitchen", text: "Cups are on the left." }] },
  },
};
export const packed = during("CONTEXT_PACK", packs);
export const specified = during("SPEC", packs);
export const hangs: Turn = { steps: ["hang"] };
export const answers = (answer: object): Turn => ({ steps: [{ answer }] });
export const finds = (...findings: readonly object[]): Turn => answers({ findings });
/** The answer of a role's run with this number. */
export const findsIn = (run: number, ...findings: readonly object[]): Turn => ({
  ...finds(...findings),
  when: { run },
});

export const builds = during("IMPLEMENT", ...build("one"));
export const passes = during("TESTING", { answer: { passed: true } });

/** Agents that do what each stage asks for. */
export const good: Behaviour = {
  analyst: [packed, during("SPEC_REVIEW", { answer: { outcome: "done" } }), says],
  writer: [specified, says],
  implementer: [builds, during("FIXER", ...build("mended")), passes],
  scout: [finds()],
  judge: [finds()],
};
/** The same, but for these roles. */
export const but = (part: Behaviour): Behaviour => ({ ...good, ...part });

/** The built-in file, but retries come after 50 and 100 ms instead of 5 and 10 s. */
export const withQuickRetries = (text: string): string => text.replace("first: 5s", "first: 50ms");
