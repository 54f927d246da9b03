import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../../src/api/routes.ts";
import type { Life } from "../life.ts";
import { openScenes, type Scenes } from "../scenes.ts";
import { addBrew, automatic } from "./deciding-files.ts";
import { createPuppet, type Puppet, puppetCommand, puppetStep } from "./puppet.ts";

/** One daemon, in which all agents have a sandbox, or none. */
export async function openColumn(isConfined: boolean) {
  const scenes = await openScenes("default", {
    agents: `most: 80, sandbox: ${isConfined ? "on" : "off"}`,
    config: `test_command: ${JSON.stringify(puppetCommand)}\nprotect: [held/**]\n`,
    workflows: { auto: automatic },
    workspaces: "clone",
  });
  await addBrew(scenes);
  let count = 0;
  // One attempt at a time: everybody compares the same home and the same repository.
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run);
    last = next.catch(() => {});
    return next;
  };
  return {
    alone,
    scenes,
    isConfined,
    close: scenes.close,
    /** A task in `working`, whose worker does what the test says. */
    async begin(): Promise<World> {
      const branch = `work-${++count}`;
      const agent = [{ steps: [puppetStep] }];
      const life = await scenes.begin(branch, { worker: agent, reviewer: agent }, { flags: ["--status", "working"] });
      return createWorld(scenes, life);
    },
  };
}

export type Column = Awaited<ReturnType<typeof openColumn>>;
export type World = ReturnType<typeof createWorld>;

/** A task with its agents, and what a person can see of it. */
function createWorld(scenes: Scenes, life: Life) {
  const { places, repository, origin, base, git } = scenes;
  let reviewerFolder = "";
  let workspace = "";
  let handed = "";
  const variables = () => ({
    ...{ ID: life.id, BRANCH: life.branch, BASE: base, REPO: repository, ORIGIN: origin, SOCKET: places.socket },
    ...{ HOUSE: join(base, "home"), TMUX_SOCKET: places.terminal, DATABASE: places.database },
    ...{ REVIEW: reviewerFolder, WORK: workspace, JUDGED: handed, CONTROL: join(places.control, "coffee.git") },
    ...{ WORKER_RUN: scenes.runFolder(life.id, "worker#1"), REVIEWER_RUN: reviewerRun },
  });
  let reviewerRun = "";
  const worker = createPuppet(scenes.runFolder(life.id, "worker#1"), variables);
  let reviewer: Puppet | undefined;
  const theReviewer = (): Puppet => {
    if (reviewer === undefined) throw new Error("The task has no reviewer yet.");
    return reviewer;
  };
  let round = 0;
  let verdicts = 0;
  let met = "";
  const files = (folder: string): readonly string[] =>
    existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }).sort() : [];
  const hash = (path: string) =>
    existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 8) : "none";
  const hashes = (folder: string, names: readonly string[] = files(folder)) =>
    names.filter((name) => name.includes(".")).map((name) => `${name}=${hash(join(folder, name))}`);

  const world = {
    ...{ scenes, life, worker, variables },
    reviewer: (script: string) => theReviewer()(script),
    /** Ends the reviewer's program: a reviewer that says nothing. */
    endReviewer: () => theReviewer().start('kill -9 "$(sed -n "s/^PPid:[^0-9]*//p" /proc/$PPID/status)"'),
    /** The commit that was handed over last. */
    judged: () => handed,
    branchOf: () => life.branch,
    /** Waits for a reviewer that is new since the last one, and takes over its program. */
    async meetReviewer(): Promise<void> {
      const run = await life.soon(
        async () =>
          (await life.runs()).findLast(
            ({ role, endedAt, pid, key }) => role === "reviewer" && endedAt === null && pid > 0 && key !== met,
          ),
        life.story,
      );
      met = run.key;
      reviewerRun = scenes.runFolder(life.id, run.key);
      reviewerFolder = run.folder;
      reviewer = createPuppet(reviewerRun, variables);
      // Until its program runs, its order is in a file.
      await reviewer("true");
    },
    /** The worker commits, with `script` before and `last` after it, and hands over; a reviewer begins. */
    async handOver(script = "true", last = "true"): Promise<void> {
      workspace = (await life.until((task) => task.workspace !== "")).workspace;
      round++;
      const section = `\\n## Handoff\\n\\nDONE: round ${round}\\n`;
      const { code, output } = await worker(`set -e
${script}
echo "honest ${round}" >>"$BRANCH.md"; git add "$BRANCH.md"; git commit -qm "round ${round}"
${without("Handoff")}
printf '${section}' >>TASK.md
${last}
signalbox task update --status agent-review`);
      if (code !== 0) throw new Error(`The worker could not hand over: ${output}\n${await life.story()}`);
      handed = git(workspace, "rev-parse", "HEAD");
      await life.until(({ status }) => status === "agent-review");
      await world.meetReviewer();
    },
    /** The reviewer judges, as an honest one does. Returns why the verdict does not count; empty if it does. */
    async tryToJudge(verdict: "PASS" | "FAIL"): Promise<string> {
      const status = verdict === "PASS" ? "reviewing" : "working";
      const words = `\\n## Review\\n\\nVerdict: ${verdict}\\n\\nVerdict number ${++verdicts}.\\n`;
      const script = `${without("Review")}; printf '${words}' >>TASK.md; signalbox task update --status ${status}`;
      // The verdict ends the reviewer, so that its script may never report its own end.
      const refused = theReviewer()(script).then(
        ({ code, output }) => (code === 0 ? Promise.race([judged, later(3_000, output)]) : output),
        () => judged,
      );
      // Where the verdict does not count, nobody waits for it until the end.
      const judged = life
        .until(({ status: now, runs }) => now === status || !runs.some(({ key }) => key === met))
        .then(({ status: now }) => (now === status ? "" : "The verdict does not count, and its reviewer was ended."));
      judged.catch(() => {});
      return Promise.race([judged, refused]);
    },
    async judge(verdict: "PASS" | "FAIL"): Promise<void> {
      const refusal = await world.tryToJudge(verdict);
      if (refusal !== "") throw new Error(`The reviewer could not judge: ${refusal}\n${await life.story()}`);
    },
    /** Whether the worker has left a note of this name: its attempt came that far. */
    hasNote: (name: string) =>
      existsSync(join(scenes.runFolder(life.id, "worker#1"), "hooks", "puppet", name)) ? name : undefined,
    person: (...args: readonly string[]) => scenes.signalbox(...args),
    /** Whether the person's branch has a file with these words. */
    onMain(words: string): boolean {
      try {
        return git(repository, "grep", "-h", "-e", words, "main") !== "";
      } catch {
        return false;
      }
    },
    /** Everything that an agent must not change by itself, as a person finds it. */
    async stand(): Promise<Readonly<Record<string, unknown>>> {
      const task = await life.now();
      const { text } = await scenes.call(routes.getDocument, { params: { task: life.id } });
      const status = await scenes.call(routes.status, {});
      const { projects } = await scenes.call(routes.listProjects, {});
      const { tasks } = await scenes.call(routes.listTasks, { query: { limit: "100" } });
      const refs = (folder: string) => git(folder, "for-each-ref", "--format=%(refname) %(objectname)").split("\n");
      return {
        "the task's state": task.status,
        "the judged commit": task.judged?.commit ?? "",
        "the task's workspace": task.workspace,
        "the task's moves": (await life.moves()).join("; "),
        "the stored verdict": text.split(/^(?=## )/m).filter((part) => part.startsWith("## Review")),
        "the stored status line": /^status:.*$/m.exec(text)?.[0] ?? "",
        "live runs": (await life.runs())
          .filter(({ endedAt }) => endedAt === null)
          .map(({ key, pid }) => `${key} ${pid}`),
        "the number of tasks": tasks.filter(({ summary }) => summary.includes("Planted")).length,
        "the daemon's process": status.pid,
        "what is paused": JSON.stringify(status.paused),
        projects: JSON.stringify(projects),
        "the configuration": hash(places.config),
        "the person's token": hash(places.humanToken),
        "trusted files": hash(places.trusted),
        "workflow files": hashes(places.workflows),
        "programs for agents": files(places.bin).map((name) => `${name}=${hash(join(places.bin, name))}`),
        "refs of the person's repository": refs(repository).filter((line) => !line.includes(`/${life.branch} `)),
        "settings of the person's repository": hash(join(repository, ".git", "config")),
        "hooks of the person's repository": hashes(join(repository, ".git", "hooks")),
        "branches of the remote": refs(origin),
      };
    },
    /** Whether a person is called for the task because something is wrong with it. */
    async isTold(): Promise<boolean> {
      const task = await life.now();
      return task.needsPerson && (task.held !== null || task.status === "stuck");
    },
    end: () => scenes.end(life),
  };
  return world;
}

/** Removes a section from the task file. */
const without = (heading: string) =>
  `awk '/^## ${heading}/{skip=1;next} /^## /{skip=0} !skip' TASK.md >"$PUPPET/task" && cat "$PUPPET/task" >TASK.md`;

const later = (milliseconds: number, words: string) =>
  new Promise<string>((resolve) => setTimeout(() => resolve(words), milliseconds));
