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

/** Where the workflows are taken from: a copy in which something is missing, where such a copy is tried. */
const folder = process.env.SCENARIO_WORKFLOWS;

/** How a task is created. */
export interface How {
  readonly summary?: string;
  readonly flags?: readonly string[];
  /** Instead of the one that the scenes are about. */
  readonly workflow?: string;
}

export const inState = (status: string): How => ({ flags: ["--status", status] });
export const byHand: How = { flags: ["--no-spawn"] };

export type Scenes = Awaited<ReturnType<typeof openScenes>>;

/** One daemon in which scenarios of one workflow are played side by side: a task for each, with agents that know their part. */
export async function openScenes(workflow: string, options: Partial<Parameters<typeof openStage>[0]> = {}) {
  const file = join(folder ?? join(root, "workflows"), `${workflow}.yml`);
  const text = readFileSync(file, "utf8");
  const stage = await openStage({
    ...{ script: "roles: {}", agents: "most: 80", poolSize: 60, remote: true },
    ...(folder === undefined ? {} : { workflows: { [workflow]: text } }),
    ...options,
  });
  const env = { ...stage.home.env, NO_COLOR: "1" };
  const signalbox = (...args: readonly string[]) => runCommand(stage.repository, env, args);
  const seen = new Set<string>();
  const parts = new Map<string, Behaviour>();

  /** An agent reads the script when it starts; those of other branches have other parts. */
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

  /** The words that an agent was told, as it heard them. */
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
    /** Begins a life whose agents behave so. */
    async begin(branch: string, part: Behaviour, how: How = {}): Promise<Life> {
      const { summary = `About ${branch}`, flags = [] } = how;
      teach(branch, part);
      const named = [branch, "--summary", summary];
      const args = ["task", "create", ...named, "--workflow", how.workflow ?? workflow, "--json", ...flags];
      const { code, stdout, stderr } = await signalbox(...args);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
      return beginLife({ ...stage, signalbox, heard }, JSON.parse(stdout).task.id, branch);
    },
    /** Whatever the life is at, it ends here, and its agents with it. */
    async end(life: Life): Promise<void> {
      for (const move of await life.moves()) seen.add(move);
      await stage.call(routes.cancelTask, { params: { task: life.id } }).catch(() => {});
      parts.delete(life.branch);
    },
    /** Another project, with a repository that nobody else works in. */
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

/** A turn that only the agents of one task play. */
function turnOf(branch: string, { when = {}, ...rest }: Turn): Turn {
  return { when: { ...when, task: { ...(when.task as object | undefined), branch } }, ...rest };
}

let count = 0;

/**
 * One scenario. Where its name begins with a move, such as `a → b (human asked): …`, the history of its task must have it.
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

/** The last test of a file: whatever can move a task of the workflow has moved one in some scenario, and nothing else has. */
export function everyMoveWasSeen({ seen, text }: Scenes): void {
  test("every way was taken, by everybody and everything that can take it, and no other", () => {
    expect([...seen].sort()).toEqual(tableOf(text));
  });
}
