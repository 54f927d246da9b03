import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createRunner } from "../../src/adapters/git/runner.ts";
import { createClones, createWorktrees } from "../../src/adapters/git/workspace/kinds.ts";
import type { WorkspaceOptions } from "../../src/adapters/git/workspace/workshop.ts";
import type { ControlRepository, Salvage } from "../../src/ports/control-repository.ts";
import type { Prepared, PrepareOrder, WorkspaceKind } from "../../src/ports/workspaces.ts";
import { createStage, type Repository, repositoryAt, type Stage } from "../git/stage.ts";

export type KindName = "worktree" | "clone";

/** A user's repository, its control repository, and workspaces of one kind. */
export interface Scene {
  readonly stage: Stage;
  readonly user: Repository;
  readonly control: ControlRepository;
  readonly kind: WorkspaceKind;
  readonly base: string;
  /** The folder of the first workspace, which may not exist yet. */
  readonly folder: string;
  readonly trash: string;
  readonly state: string;
  place(name: string): string;
  /** Git as an agent runs it there. */
  at(folder?: string): Repository;
  prepare(changes?: Partial<PrepareOrder>): Promise<Prepared>;
  salvage(folder?: string): Promise<Salvage>;
  /** Files in the trash, by the names they had. */
  trashed(): readonly string[];
  /** The same workspaces, as a restarted daemon sees them. */
  again(changes?: Partial<WorkspaceOptions> & { readonly program?: string }): WorkspaceKind;
}

export interface Scenes {
  readonly stage: Stage;
  open(options?: { readonly name?: string; readonly user?: Repository; readonly syncs?: boolean }): Promise<Scene>;
}

export function createScenes(kind: KindName, name: string): Scenes {
  const stage = createStage(`${kind}-${name}`);
  let first: Promise<readonly [user: Repository, control: ControlRepository]> | undefined;
  /** Copies instead of creating both again, which takes long: most scenes begin with the same two repositories. */
  const copies = async () => {
    first ??= openBoth(stage, stage.repository());
    const [user, control] = await first;
    const [folder, controlFolder] = [stage.path("user"), stage.path("control.git")];
    cpSync(user.folder, folder, { recursive: true, preserveTimestamps: true });
    cpSync(control.folder, controlFolder, { recursive: true });
    return [repositoryAt(folder, stage.env), await stage.git.openControl(controlFolder)] as const;
  };
  return {
    stage,
    async open({ name, user: given, syncs = true } = {}) {
      const isPlain = name === undefined && given === undefined && syncs;
      const [user, control] = isPlain ? await copies() : await openBoth(stage, given ?? stage.repository(name), syncs);
      const [state, trash, pool] = [stage.path("state"), stage.path("trash"), stage.path("pool")];
      const again: Scene["again"] = ({ program = "git", ...changes } = {}) => {
        const run = createRunner({ program, env: stage.env, signal: undefined, limits });
        const create = kind === "clone" ? createClones : createWorktrees;
        return create({ run, repository: user.folder, control: control.folder, state, trash, ...changes });
      };
      const made = again();
      const base = syncs ? user.at("HEAD") : "0".repeat(40);
      const folder = join(pool, "one");
      return {
        ...{ stage, user, control, kind: made, base, folder, trash, state, again },
        place: (name) => join(pool, name),
        at: (path = folder) => repositoryAt(path, stage.env),
        prepare: (changes) =>
          made.prepare({ folder, branch: "task", base, existing: false, salvaged: false, ...changes }),
        salvage: (path = folder) => control.salvage({ folder: path, task: "t1", at: Date.now() }),
        trashed: () => trashedIn(trash),
      };
    },
  };
}

async function openBoth(stage: Stage, user: Repository, syncs = true) {
  return [user, await stage.control(syncs ? user : undefined)] as const;
}

const limits = { short: 60_000, long: 60_000 };

function trashedIn(trash: string): readonly string[] {
  if (!existsSync(trash)) return [];
  return readdirSync(trash).flatMap((heap) => {
    const files = join(trash, heap, "files");
    if (!existsSync(files)) return [];
    const found = execFileSync("find", [".", "!", "-type", "d", "-printf", "%P\n"], { cwd: files, encoding: "utf8" });
    return found.split("\n").filter((name) => name !== "");
  });
}

/** The output of `git status`, which trusts the workspace's own index and settings. */
export function statusOf(repository: Repository): string {
  return repository.git("status", "--short", "--untracked-files=all");
}
