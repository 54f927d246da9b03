import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { EventView, TaskView } from "../../src/api/tasks.ts";
import type { Stage } from "../agents/stage.ts";
import type { Ran } from "./person.ts";

/** The parts of the stage that a task needs. */
type Ground = Stage & {
  signalbox(...args: readonly string[]): Promise<Ran>;
  heard(session: string): readonly string[];
};

/** The timeout of a wait, in milliseconds. */
const waitTimeout = Number(process.env.SCENARIO_PATIENCE ?? 240_000);

/** A task as a person sees it, with what git, tmux and the system say about it. */
export type Life = ReturnType<typeof beginLife>;

export function beginLife(stage: Ground, id: string, branch: string) {
  const now = () => stage.task(id);
  const until = (isSo: (task: TaskView) => boolean) =>
    eventually(
      async () => {
        const task = await now();
        return isSo(task) ? task : undefined;
      },
      async () => `${JSON.stringify(await now())}\n${await life.story()}\n${stage.daemon().said().slice(-3000)}`,
    );
  const runs = async () => (await stage.runs(true)).filter(({ task }) => task === id);
  const person = (verb: string, ...rest: readonly string[]) => stage.signalbox("task", verb, id, ...rest);

  const life = {
    ...{ id, branch, now, until, runs, soon: eventually },
    /** The history, for error messages. */
    story: async () =>
      (await stage.events(id)).map(({ type, by, data }) => `${type} ${by} ${JSON.stringify(data)}`).join("\n"),
    /** Runs a person's command about the task, which must succeed. */
    async does(verb: string, ...rest: readonly string[]): Promise<string> {
      const ran = await person(verb, ...rest);
      expect(ran.code, `task ${verb} ${rest.join(" ")}: ${ran.stderr}`).toBe(0);
      return ran.stdout;
    },
    /** Runs a command that must be refused: it changes only the history, and says why. */
    async isRefused(verb: string, ...rest: readonly string[]): Promise<string> {
      const before = standing(await now());
      const ran = await person(verb, ...rest);
      expect(ran, `task ${verb} ${rest.join(" ")}`).toMatchObject({ code: 1, stdout: "" });
      expect(standing(await now())).toEqual(before);
      return ran.stderr;
    },
    /** Lets an agent continue that waits for `go`. */
    go: () => writeFileSync(join(stage.base, `go-${branch}`), ""),
    /** Agrees in an agent's dialog, as a person in its window would. */
    async allows(key: string): Promise<void> {
      const asking = await eventually(async () =>
        (await runs()).find((run) => run.key === key && run.activity === "asks"),
      );
      stage.press(asking, "y");
    },
    /** Waits until an agent's statement is recorded. */
    async hasWritten(words: string): Promise<void> {
      await eventually(async () => {
        const { text } = await stage.call(routes.getDocument, { params: { task: id } });
        return text.includes(words) ? true : undefined;
      }, life.story);
    },
    /** Waits until the task is in this state and has settled. */
    async reaches(status: string): Promise<TaskView> {
      const there = await until((task) => task.held !== null || (task.status === status && task.phase !== "entering"));
      expect({ status: there.status, held: there.held }, await life.story()).toEqual({ status, held: null });
      return there;
    },
    /** Waits until the task has made a move, for a state that it was in before. */
    async makes(move: string): Promise<void> {
      await eventually(async () => ((await life.moves()).includes(move) ? true : undefined), life.story);
    },
    async isHeld(): Promise<TaskView> {
      return until(({ held }) => held !== null);
    },
    async moves(): Promise<readonly string[]> {
      return (await stage.events(id)).filter(({ type }) => type === "task.moved").map(moveText);
    },
    /** Why requests were refused: who asked, for what, and the reasons' codes. */
    async refusals(): Promise<readonly string[]> {
      const events = await stage.events(id);
      return events
        .filter(({ type }) => type === "request.rejected")
        .map(({ by, data }) => {
          const { request, reasons } = data as { request: { to?: string; kind: string }; reasons: { code: string }[] };
          return `${by} ${request.to ?? request.kind}: ${reasons.map(({ code }) => code).join(", ")}`;
        });
    },
    /** The keys of runs with live processes. */
    async alive(): Promise<readonly string[]> {
      const marks = processMarks(id);
      return (await runs()).map(({ key }) => key).filter((key) => marks.has(key));
    },
    async onlyAlive(...keys: readonly string[]): Promise<void> {
      await eventually(
        async () => ((await life.alive()).join() === keys.join() ? true : undefined),
        async () => `Alive: ${await life.alive()}; expected: ${keys}. ${stage.daemon().said().slice(-2000)}`,
      );
    },
    /** The windows of the task in tmux: the session's title, and the window's name. */
    windows(): readonly string[] {
      const format = "#{session_name} #{@signalbox_title} #{@signalbox_window}";
      let listed = "";
      try {
        listed = stage.tmux("list-windows", "-a", "-F", format);
      } catch {
        // The tmux server ends with its last window.
      }
      const own = listed.split("\n").filter((line) => line.startsWith(`sb-${id} `));
      return own.map((line) => line.slice(`sb-${id} `.length));
    },
    /** Waits until this many requests were refused, and returns the reasons. */
    async isRefusedAll(...expected: readonly string[]): Promise<void> {
      await eventually(async () => ((await life.refusals()).length >= expected.length ? true : undefined), life.story);
      expect(await life.refusals()).toEqual(expected);
    },
    /** All its runs, with the windows they had. */
    async windowsHad(): Promise<readonly string[]> {
      return (await runs()).map(({ key, window }) => `${key} ${window}`);
    },
    async hasWindows(...names: readonly string[]): Promise<void> {
      const wanted = names.map((name) => `coffee/${branch} ${name}`).join("; ");
      await eventually(
        async () => (life.windows().join("; ") === wanted ? true : undefined),
        async () => `Windows: ${life.windows().join("; ")}; expected: ${wanted}.`,
      );
    },
    /** The messages that a run received. */
    async heard(key: string): Promise<readonly string[]> {
      return stage.heard((await runs()).find((run) => run.key === key)?.session ?? "");
    },
    /** Waits until a run has received a message that contains this. */
    async hears(key: string, words: string): Promise<string> {
      return eventually(
        async () => (await life.heard(key)).find((each) => each.includes(words)),
        async () => `${key} heard ${JSON.stringify(await life.heard(key))}, not "${words}".`,
      );
    },
    /** The task has a workspace, in which its branch is checked out. */
    async hasWorkspace(): Promise<string> {
      const { workspace } = await now();
      expect(existsSync(workspace)).toBe(true);
      expect(stage.git(workspace, "branch", "--show-current")).toBe(branch);
      return workspace;
    },
    /** Its agents were ended before the workspace was released, and none of their processes is left. */
    async endedFirst(): Promise<void> {
      await eventually(async () => ((await now()).workspace === "" ? true : undefined), life.story);
      expect(await life.alive()).toEqual([]);
      await life.gaveBack();
      expect(life.windows()).toEqual([]);
    },
    /** It has no workspace any more, and the folder is free for others. */
    async gaveBack(): Promise<void> {
      await eventually(async () => ((await now()).workspace === "" ? true : undefined));
      const { workspaces } = await stage.call(routes.listWorkspaces, { query: {} });
      expect(workspaces.filter(({ task }) => task?.id === id)).toEqual([]);
    },
    round: async () => (await now()).counters.review_round ?? 0,
  };
  return life;
}

/** Polls until there is an answer, backing off, because polling slows other scenarios down. */
async function eventually<T>(
  ask: () => Promise<T | undefined>,
  tell: () => Promise<string> = async () => "",
): Promise<T> {
  const end = Date.now() + waitTimeout;
  for (let pause = 60; ; pause = Math.min(pause * 1.4, 600)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`It did not come to that. ${await tell().catch(String)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** What a refused request must not change; agents may change other things in the meantime. */
function standing({ status, counters, workspace, held, summary, branch, dependsOn }: TaskView) {
  return { status, counters, workspace, held, summary, branch, dependsOn };
}

function moveText({ by, data }: EventView): string {
  return `${data.from} → ${data.to} (${by} ${data.cause})`;
}

/** The runs of a task with live processes, found by their environment. */
function processMarks(task: string): ReadonlySet<string> {
  const marks = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const found = readFileSync(`/proc/${name}/environ`, "latin1").split("\0");
      const run = found.find((entry) => entry.startsWith("SIGNALBOX_RUN="));
      return run !== undefined && found.includes(`SIGNALBOX_TASK=${task}`) ? [run.slice("SIGNALBOX_RUN=".length)] : [];
    } catch {
      return [];
    }
  });
  return new Set(marks);
}
