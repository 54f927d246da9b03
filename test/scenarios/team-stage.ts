import { readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../src/api/routes.ts";
import type { TaskView } from "../../src/api/tasks.ts";
import { eventually, openStage, type StageOptions } from "../agents/stage.ts";

type Step = string | Readonly<Record<string, unknown>>;

/** An item of the plan, and what its engineer does. */
export interface ScriptedPart {
  readonly id: string;
  readonly needs?: readonly string[];
  readonly files?: readonly string[];
  readonly size?: "S" | "M" | "L";
  /** The engineer's first turn; else it writes a file with the part's name. Everything is committed after it. */
  readonly steps?: readonly Step[];
  /** The engineer's turns after failing tests, and after a conflict. */
  readonly mends?: readonly Step[];
  readonly resolves?: readonly Step[];
  /** What the architect does before it approves. */
  readonly review?: readonly Step[];
}

interface Turn {
  readonly when?: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

/** The turn that mends the whole, after all parts were merged. */
const mendsWhole: Turn = {
  when: { prompt: "Joining the engineers' branches" },
  steps: [{ write: { file: "whole.txt", text: "whole\n" } }, { commit: "Mend the whole" }],
};

/** The agents of one plan. A part whose title contains another one's would be taken for it. */
function teamScript(parts: readonly ScriptedPart[], clarify: readonly Turn[]): string {
  const of = ({ id }: ScriptedPart, prompt: string) => ({ task: { summary: titleOf(id) }, prompt });
  const swe = parts.flatMap((part): readonly Turn[] => {
    const { id, steps = [writes(id)], mends = [], resolves = [] } = part;
    return [
      { when: of(part, "Whole requirement:"), steps: [...steps, { commit: `Build ${id}` }] },
      { when: of(part, "Work these in"), steps: [...mends, { commit: `Mend ${id}` }] },
      { when: of(part, "did not work:"), steps: [...resolves, { commit: `Join ${id}` }] },
    ];
  });
  const reviews = parts.flatMap((part): readonly Turn[] => {
    if (part.review === undefined) return [];
    return [{ when: of(part, "Review this change"), steps: [...part.review, approves] }];
  });
  const subtasks = parts.map(({ id, needs = [], files = [], size = "M" }) => {
    return { id, title: titleOf(id), description: `Write ${id}.txt`, needs, files, size };
  });
  const architect: readonly Turn[] = [
    ...clarify,
    ...reviews,
    { when: { prompt: "Review this change" }, steps: [approves] },
    { when: { prompt: "Split it into subtasks" }, steps: [{ answer: { subtasks } }] },
  ];
  return JSON.stringify({ roles: { architect, swe: [...swe, mendsWhole] } });
}

export function titleOf(id: string): string {
  return `Part ${id}`;
}

const approves: Step = { answer: { approved: true } };

export function writes(id: string): Step {
  return { write: { file: `${id}.txt`, text: `${id}\n` } };
}

export type TeamStage = Awaited<ReturnType<typeof openTeam>>;

/** The folder above the home, from a workspace. */
const above = "../../../..";

/** Steps that let two parts begin before either can be merged. */
export function meets(me: string, other: string): Step {
  return { run: ["sh", "-c", `touch ${above}/${me}; until test -e ${above}/${other}; do sleep 0.05; done`] };
}

/** Steps that merge the parent's branch, in which both parts have changed recipe.md. */
export const joins: readonly Step[] = [
  { run: ["sh", "-c", 'own={branch}; git merge --quiet "origin/$' + '{own%-agent-*}" || true'] },
  { write: { file: "recipe.md", text: "left and right\n" } },
];

/** A real daemon with scripted agents that play a plan. */
export async function openTeam(
  parts: readonly ScriptedPart[],
  { clarify = [], ...options }: StageOptions & { readonly clarify?: readonly Turn[] } = {},
) {
  const stage = await openStage({ script: teamScript(parts, clarify), agents: "most: 30, sandbox: off", ...options });
  const children = async (parent: string): Promise<readonly TaskView[]> =>
    (await stage.call(routes.listTasks, { query: { parent, limit: "1000" } })).tasks;
  return {
    ...stage,
    children,
    async begin(settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const body = { project: "coffee", summary: "Brew", workflow: "team", autostart: true };
      return (await stage.call(routes.createTask, { body: { ...body, settings } })).task.id;
    },
    /** Waits for the end of a task, and fails with all that is known about it and its parts. */
    async ends(id: string, timeout = 240_000): Promise<TaskView> {
      return eventually(
        async () => {
          const task = await stage.task(id);
          return task.phase === "over" || task.held !== null ? task : undefined;
        },
        timeout,
        async () => JSON.stringify([await stage.task(id), await children(id)], undefined, 1),
      );
    },
    /** Every message to an agent of a task, the oldest first. */
    async prompts(task: string): Promise<readonly string[]> {
      const runs = (await stage.runs(true)).filter((run) => run.task === task);
      return [...new Set(runs.map(({ session }) => session))].flatMap((session) =>
        readFileSync(join(stage.places.runs, ".scripted", "sessions", `${session}.jsonl`), "utf8")
          .split("\n")
          .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
          .flatMap(({ kind, text }) => (kind === "heard" ? [text] : [])),
      );
    },
  };
}
