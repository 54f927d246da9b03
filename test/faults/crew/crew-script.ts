import { fileURLToPath } from "node:url";

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));

/** The first word of a ticket's title says how its agent behaves. */
export const behaviours = ["Add", "Share", "Leave", "Break", "Fall", "Dawdle"] as const;
/** The agent commits nothing, so that in the end a person is asked. */
export type Behaviour = (typeof behaviours)[number] | "Nothing";

/** The script of agents that behave in every way a ticket may meet. They record their work in a separate folder. */
export function crewScript(notes: string): string {
  const work = (...what: readonly string[]) =>
    JSON.stringify({ run: [process.execPath, worker, notes, "{id}", ...what] });
  return `roles:
  worker:
    - when: { prompt: "The work is not done yet", counter: { empty: 1 } }
      steps: [{ say: "There is nothing to do." }, marker]
    - when: { prompt: "The work is not done yet" }
      steps: [${work("mend")}, marker]
    - when: { prompt: "Nothing" }
      steps: [{ choose: [{ when: { counter: { empty: 0 } }, steps: [{ count: empty }] }] }, marker]
    - when: { prompt: "Share" }
      steps: [${work("share")}, marker]
    - when: { prompt: "Break" }
      steps: [${work("break")}, marker]
    - when: { prompt: "Fall", counter: { falls: 0 } }
      steps: [${work("commit")}, { count: falls }, ${work("leave")}, { crash: SIGKILL }]
    - when: { prompt: "Dawdle", turn: 1 }
      steps: [${work("commit")}, { think: 4s }, ${work("commit")}]
    - when: { prompt: "Leave", turn: 2 }
      steps: [${work("leave")}, marker]
    - when: { turn: 1 }
      steps: [${work("commit")}, { usage: { input: 100, output: 10, cost: 0.25 } }]
    - steps: [${work("commit")}, marker]
  resolver:
    - steps: [${work("resolve")}, { say: "Both are in it." }]
`;
}
