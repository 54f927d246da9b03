import { existsSync, rmSync } from "node:fs";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { Fault } from "../../../src/fault.ts";
import { repositoryAt } from "../../git/stage.ts";
import type { Scene } from "../stage.ts";
import { agentActs, pick } from "./agent-acts.ts";
import { type Contents, committedIn, contentsOf, createManifest } from "./manifest.ts";
import { createWorld } from "./world.ts";

export interface Play {
  /** The steps in order, with refusals. */
  readonly steps: readonly string[];
  /** Contents that are lost in the end, or were not saved right after their removal. */
  readonly lost: readonly string[];
  /** Workspaces that could not be removed. */
  readonly stuck: readonly string[];
  /** How many contents were checked. */
  readonly sought: number;
}

export interface Lot {
  readonly seed: number;
  readonly rounds: number;
}

type ActName = keyof typeof agentActs | "delete the folder";

/** The agents' acts; frequent ones are listed several times. */
const acts: readonly ActName[] = [
  ...(Object.keys(agentActs) as ActName[]),
  ...(["edit", "edit", "commit", "commit", "add untracked", "add ignored", "delete the folder"] as const),
];

const distinct = Object.keys(agentActs).length;

/** Simulates a pool at random: work, accidents, and everything that removes work. A seed repeats the same run. */
export async function play(scene: Scene, { seed, rounds }: Lot): Promise<Play> {
  const { stage, user, control, trash, kind } = scene;
  user.commit({ ".gitignore": "*.log\nbuild/\n" });
  const world = await createWorld(scene, 2);
  const manifest = createManifest(stage.env);
  const random = createRandom(seed);
  const draw = (below: number) => Math.floor(random.next() * below);
  const steps: string[] = [];
  const wrong: string[] = [];
  let writings = 0;
  let hasBegun = false;
  const fresh = () => `${seed}-${++writings}\n`;
  const places = { repositories: [user.folder, control.folder], folders: [trash, world.folder] };

  for (let round = 0; round < rounds; round++) {
    const bound = (await world.workspaces()).filter(({ task }) => task !== "");
    if (bound.length === 0 || (bound.length < 2 && draw(3) === 0)) {
      const task = await world.begin();
      const free = (await world.workspaces()).filter((each) => each.task === "");
      await taking(`acquire ${task}`, () => world.acquire(task), ...free.map(({ path }) => path));
    } else {
      const { path, task } = pick(bound, draw);
      // Two fixed acts per seed, so that every act is tried within half as many seeds as there are acts.
      const sure = hasBegun ? [] : [...acts, ...acts].slice((seed * 2) % distinct).slice(0, 2);
      for (const name of [...sure, ...Array.from({ length: draw(5) }, () => pick(acts, draw))])
        if (existsSync(path)) await agentAct(path, task, name);
      hasBegun = true;
      await ourAct(draw(8), path, task);
    }
  }
  const stuck = await drain();
  return { steps, lost: [...wrong, ...manifest.lost(places)], stuck, sought: manifest.size };

  async function attempt(name: string, act: () => unknown): Promise<boolean> {
    try {
      await act();
      steps.push(name);
      return true;
    } catch (error) {
      steps.push(`${name} (${error instanceof Fault ? error.code : "refused"})`);
      // Git may refuse an agent's act; our own code may throw only Faults.
      if (!(error instanceof Fault) && !isGit(error)) throw error;
      return false;
    }
  }

  /** Contents that our act removes from folders must be found in the end; a refused act must remove nothing. */
  async function taking(name: string, act: () => Promise<unknown>, ...folders: readonly string[]): Promise<void> {
    const before = new Map(folders.flatMap((folder) => [...contentsOf(folder, stage.env)]));
    const isDone = await attempt(name, act);
    const after = new Set(folders.flatMap((folder) => [...contentsOf(folder, stage.env).keys()]));
    const gone: Contents = new Map([...before].filter(([id]) => !after.has(id)));
    if (!isDone && gone.size > 0) wrong.push(`${name} was refused, and took ${gone.size} away`);
    manifest.add(gone, name);
  }

  async function agentAct(path: string, task: string, name: ActName): Promise<void> {
    const at = repositoryAt(path, stage.env);
    // Deleting a clone deletes its commits; the commits of a worktree belong to the repository.
    if (
      kind.kind === "worktree" &&
      (name === "lose .git" || name === "delete the folder") &&
      existsSync(`${path}/.git`)
    )
      manifest.add(committedIn(path, stage.env), name);
    await attempt(`  ${task} ${name}`, () =>
      name === "delete the folder" ? rmSync(path, { recursive: true }) : agentActs[name]({ at, fresh, draw }),
    );
  }

  async function ourAct(which: number, path: string, task: string): Promise<void> {
    if (which === 0) return taking(`acquire ${task} again`, () => world.acquire(task), path);
    if (which === 1) return void (await attempt("the user commits", () => user.commit({ "user.txt": fresh() })));
    if (which === 7) return;
    if (which < 4) await attempt(`merge ${task}`, () => world.merge(task));
    await release(path, task);
    const free = (await world.workspaces()).find((each) => each.task === "");
    if (free === undefined) return;
    if (draw(2) === 0) {
      await taking("park", () => world.park(free), free.path);
      if (draw(2) === 0 && existsSync(free.path)) await agentAct(free.path, "a late one", pick(acts, draw));
    }
    if (draw(4) === 0) await taking("remove", () => world.remove(free), free.path);
  }

  /** As soon as the workspace is released, everything but ignored files is under a ref. */
  async function release(path: string, task: string): Promise<void> {
    const before = contentsOf(path, stage.env);
    if (!(await attempt(`release ${task}`, () => world.release(task)))) return;
    manifest.add(before, `release ${task}`);
    const saved = createManifest(stage.env);
    saved.add(new Map([...before].filter(([, what]) => what !== "ignored file")), `right after release ${task}`);
    wrong.push(...saved.lost({ ...places, folders: [] }));
  }

  /** Ends every task and removes every workspace; returns the workspaces that cannot be removed. */
  async function drain(): Promise<readonly string[]> {
    for (const { path, task } of await world.workspaces()) if (task !== "") await release(path, task);
    for (const workspace of await world.workspaces()) {
      // As the hint of the fault tells the user.
      if (kind.kind === "worktree")
        await attempt("unlock", () => user.git("worktree", "unlock", workspace.path)).then(() => steps.pop());
      await taking(`remove ${workspace.id}`, () => world.remove(workspace), workspace.path);
    }
    return (await world.workspaces()).map(({ path }) => path);
  }
}

function isGit(error: unknown): boolean {
  return error instanceof Error && "status" in error && typeof error.status === "number";
}
