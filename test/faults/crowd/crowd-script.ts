import { askFor, build, handoff, plan, review, type Step, section, type Turn } from "../../scenarios/steps.ts";

/** How the agents of a task behave, and how the task ends if the person only merges and answers. */
export const manners = {
  plain: "over",
  /** The first worker dies in the middle. */
  crash: "over",
  /** The first worker asks before it plans or builds. */
  question: "over",
  /** The first review fails. */
  failed: "over",
  /** Every review fails. */
  hopeless: "asks",
  /** The worker waits in a dialog that no person answers. */
  dialog: "asks",
} as const;
export type Manner = keyof typeof manners;

export interface CrowdTask {
  readonly workflow: "default" | "classic" | "crew";
  readonly manner: Manner;
  readonly summary: string;
}

const work = [...build("work"), handoff("it is built")];
const done: readonly Step[] = [...work, askFor("agent-review"), { say: "It is handed over." }];

/** The script of all agents: each turn is for one task, selected by its summary. */
export function crowdScript(tasks: readonly CrowdTask[]): string {
  return JSON.stringify({ roles: { any: tasks.flatMap(turnsOf) } });
}

function turnsOf({ workflow, manner, summary }: CrowdTask): readonly Turn[] {
  const own = (when: Turn["when"], ...steps: readonly Step[]): Turn => ({
    when: { ...when, task: { summary } },
    steps,
  });
  if (workflow === "crew")
    return [
      ...(manner === "crash"
        ? [own({ role: "worker", counter: { falls: 0 } }, { count: "falls" }, { crash: "SIGKILL" })]
        : []),
      own({ role: "worker", turn: 1 }, ...build("step"), { say: "One step." }),
      own({ role: "worker" }, ...build("more"), "marker"),
      own({ role: "resolver" }, { say: "There is nothing to resolve." }),
    ];
  const asks = [section("Questions", "1. Which cup?"), askFor("clarification"), { say: "I have a question." }];
  const first: Turn[] = [];
  const begins = { status: ["planning", "working"], counter: { begun: 0 } };
  if (manner === "crash") first.push(own(begins, { count: "begun" }, ...build("half"), { crash: "SIGKILL" }));
  if (manner === "question") first.push(own(begins, { count: "begun" }, ...asks));
  if (manner === "dialog") first.push(own(begins, { ask: "May I?" }));
  const verdict = (which: "PASS" | "FAIL", to: string) => [
    review(which, "This is round {review_round}."),
    askFor(to),
    { say: `It is a ${which}.` },
  ];
  const second = { status: "agent-review", task: { summary, review_round: "2" } };
  const fails = verdict("FAIL", "working");
  const reviews: readonly Turn[] = [
    ...(manner === "failed" ? [{ when: second, steps: verdict("PASS", "reviewing") }] : []),
    ...(manner === "hopeless" ? [{ when: second, steps: verdict("FAIL", "stuck") }] : []),
    own(
      { status: "agent-review" },
      ...(manner === "failed" || manner === "hopeless" ? fails : verdict("PASS", "reviewing")),
    ),
  ];
  return [
    ...first,
    own({ status: "planning" }, plan, askFor("working"), ...done),
    own({ status: "working" }, ...done),
    ...reviews,
    own({}, { say: "I wait." }),
  ];
}
