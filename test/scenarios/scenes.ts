import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { openStage } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { beginLife, type Life } from "./life.ts";
import { runCommand } from "./person.ts";
import type { Behaviour, Turn } from "./steps.ts";
import { tableOf } from "./table.ts";

/** The folder of the workflows: a mutant's copy, if one is being tested. */
const folder = process.env.SCENARIO_WORKFLOWS;

/** How a task is created. */
export interface How {
  readonly summary?: string;
  readonly flags?: readonly string[];
  /** Overrides the scenes' workflow. */
  readonly workflow?: string;
}

export const inState = (status: string): How => ({ flags: ["--status", status] });
export const byHand: How = { flags: ["--no-spawn"] };

export type Scenes = Awaited<ReturnType<typeof openScenes>>;

/** One daemon in which the scenarios of a workflow run concurrently: a task for each, with scripted agents. */
export async function openScenes(
  workflow: string,
  {
    change,
    workflows,
    ...options
  }: Partial<Parameters<typeof openStage>[0]> & { change?: (text: string) => string } = {},
) {
  const file = join(folder ?? join(root, "workflows"), `${workflow}.yml`);
  const text = (change ?? String)(readFileSync(file, "utf8"));
  const stage = await openStage({
    ...{ script: "roles: {}", agents: "most: 80, sandbox: off", poolSize: 60, remote: true },
    // A file of the scenes' own must not take the place of a mutant's.
    workflows: { ...(folder === undefined && change === undefined ? {} : { [workflow]: text }), ...workflows },
    ...options,
  });
  const env = { ...stage.home.env, NO_COLOR: "1" };
  const signalbox = (...args: readonly string[]) => runCommand(stage.repository, env, args);
  const seen = new Set<string>();
  const parts = new Map<string, Behaviour>();

  /** An agent reads the script when it starts; each branch has its own turns. */
  const publish = () => {
    const roles: Record<string, readonly Turn[]> = {};
    for (const [branch, part] of parts)
      for (const [role, turns] of Object.entries(part))
        roles[role] = [...(roles[role] ?? []), ...turns.map((turn) => turnOf(branch, turn))];
    writeFileSync(`${stage.scriptFile}.new`, JSON.stringify({ roles }));
    renameSync(`${stage.scriptFile}.new`, stage.scriptFile);
  };
  const teach = (branch: string, part: Behaviour) => {
    parts.set(branch, part);
    publish();
  };

  /** The messages that an agent received. */
  const heard = (session: string): readonly string[] => {
    const transcript = join(stage.places.runs, ".scripted", "sessions", `${session}.jsonl`);
    if (session === "" || !existsSync(transcript)) return [];
    return readFileSync(transcript, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === "heard")
      .map(({ text: words }) => String(words));
  };

  return {
    ...{ ...stage, workflow, text, env, signalbox, seen, teach },
    /** Creates a task whose agents behave like this. */
    async begin(branch: string, part: Behaviour, how: How = {}): Promise<Life> {
      const { summary = `About ${branch}`, flags = [] } = how;
      teach(branch, part);
      const named = [branch, "--summary", summary];
      const args = ["task", "create", ...named, "--workflow", how.workflow ?? workflow, "--json", ...flags];
      const { code, stdout, stderr } = await signalbox(...args);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
      return beginLife({ ...stage, signalbox, heard }, JSON.parse(stdout).task.id, branch);
    },
    /** Ends the task, in whatever state it is, and its agents. */
    async end(life: Life): Promise<void> {
      for (const move of await life.moves()) seen.add(move);
      await stage.call(routes.cancelTask, { params: { task: life.id } }).catch(() => {});
      parts.delete(life.branch);
    },
    /** Adds another project, with its own repository. */
    async addProject(name: string, poolSize: number): Promise<string> {
      const repository = join(stage.base, name);
      stage.git(stage.base, "clone", "--quiet", "--origin", "elsewhere", stage.origin, repository);
      for (const [key, value] of [
        ["name", "Ada"],
        ["email", "ada@example.org"],
      ] as const)
        stage.git(repository, "config", `user.${key}`, value);
      await stage.call(routes.addProject, { body: { path: repository, name, harness: "scripted", poolSize } });
      return repository;
    },
    /** Whether an agent has noted this in a file beside the home. */
    hasFile(name: string, words: string): boolean {
      const file = join(stage.base, name);
      return existsSync(file) && readFileSync(file, "utf8").includes(words);
    },
    /** Whether a daemon answers. */
    isListening: () =>
      stage.call(routes.status, {}).then(
        () => true,
        () => false,
      ),
    remoteBranches: () => stage.git(stage.origin, "for-each-ref", "--format=%(refname:short)").split("\n"),
  };
}

/** A turn for the agents of one task only. */
function turnOf(branch: string, { when = {}, ...rest }: Turn): Turn {
  return { when: { ...when, task: { ...(when.task as object | undefined), branch } }, ...rest };
}

let count = 0;

/**
 * One scenario. If its name begins with a move, such as `a → b (human asked): …`, the task must make that move.
 */
export function scenario(
  scenes: Scenes,
  name: string,
  part: Behaviour,
  play: (life: Life) => Promise<void>,
  how: How = {},
): void {
  const branch = `s${++count}`;
  test.concurrent(name, async () => {
    const life = await scenes.begin(branch, part, how);
    try {
      await play(life);
      const move = /^([\w-]+ → [\w-]+ \([\w -]+\)): /.exec(name)?.[1];
      if (move !== undefined) expect(await life.moves()).toContain(move);
    } finally {
      await scenes.end(life);
    }
  });
}

/** The last test of a file: every possible move of the workflow was made in some scenario, and no other. */
export function everyMoveWasSeen({ seen, text }: Scenes): void {
  test("every possible move was made, by each actor and cause, and no other", () => {
    expect([...seen].sort()).toEqual(tableOf(text));
  });
}
