import { buildRouteMap } from "@stricli/core";
import { routes } from "../../api/routes.ts";
import type { WorkspaceView } from "../../api/workspaces.ts";
import { confirm } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { writeTable } from "../tables.ts";
import { count, given, writeJson, writeSize } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, onlyProject as project } from "./parameters.ts";

const gc = command({
  parameters: { flags: { project, "dry-run": flag("Only show what would be done"), yes: flag("Do not ask"), json } },
  docs: {
    brief: "Clean up unused workspaces, branches and trash",
    fullDescription: `Workspaces of tasks that are over are released. Free workspaces that are broken, or that exceed the pool's size, go to the trash after their contents are salvaged. Branches of tasks that are over are deleted if the default branch has all their commits; the others are listed with the number of commits that only they have. Trash older than trash_days (30) is deleted, and the oldest trash if there is more than trash_limit (10GB). Salvaged work is kept. A workspace that was set aside, because git could not read it, is salvaged if you have repaired it, and stays otherwise. The command first shows what it will do; on a terminal you are asked, elsewhere --yes is needed.

--json: { done: [{ what, project, path, reason, freed }] }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project`,
  },
  async func({ project, yes, "dry-run": dryRun, json }) {
    const call = createCall(this);
    const about = given({ project });
    const planned = await call(routes.cleanWorkspaces, { body: { ...about, dryRun: true } });
    if (dryRun && json) return this.print(writeJson(planned));
    const acts = planned.done.filter(({ what }) => what !== "keep");
    if (!json && planned.done.length === 0)
      return this.say("There are no workspaces, no branches of ended tasks, and no trash.");
    if (!json && (dryRun || (acts.length > 0 && !yes))) {
      const table = writeDone(this, planned.done, wouldDo);
      if (dryRun) this.print(table);
      else this.say(table);
    }
    if (dryRun && acts.length > 0) return this.say("\nNothing has changed. To do it: signalbox workspace gc");
    if (dryRun) return this.say("\nThere is nothing to clean up.");
    if (acts.length > 0 && !(await confirm(this, `Clean up ${count(acts.length, "thing")}?`, yes))) return;
    const answer = await call(routes.cleanWorkspaces, { body: about });
    if (json) return this.print(writeJson(answer));
    this.print(writeDone(this, answer.done, did));
    const freed = answer.done.reduce((sum, each) => sum + each.freed, 0);
    if (answer.done.every(({ what }) => what === "keep")) return this.say("\nThere is nothing to clean up.");
    if (freed > 0) this.say(`\nFreed ${writeSize(freed)}.`);
  },
});

type Done = readonly { readonly what: keyof typeof did; readonly path: string; readonly reason: string }[];

function writeDone({ paint, tableWidth: width }: Context, done: Done, words: typeof did | typeof wouldDo): string {
  const columns = [{ title: "WHAT", paint: paint.bold }, { title: "PATH" }, { title: "WHY", isText: true }] as const;
  return writeTable(
    columns,
    done.map(({ what, path, reason }) => [words[what], path, reason]),
    width,
  );
}

const did = {
  release: "released",
  adopt: "adopted",
  remove: "moved to the trash",
  delete: "deleted",
  keep: "kept",
} as const;

const wouldDo = {
  release: "would release",
  adopt: "would adopt",
  remove: "would move to the trash",
  delete: "would delete",
  keep: "would keep",
} as const;

const list = command({
  parameters: { flags: { project, json } },
  docs: {
    brief: "List the workspaces, their state and their size",
    fullDescription: `A workspace is clean, dirty (it has uncommitted changes), broken or missing. A free one waits for the next task of its project. An unsaved one was set aside because git could not read it, or because it could not be emptied; no task gets it.

--json: { workspaces: [{ project, path, kind, task: { id, number, summary }, branch, state, reason, isUnsaved, size, isCut }], size, trash: { folders, size } }. Sizes are in bytes
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func({ project, json }) {
    const answer = await createCall(this)(routes.listWorkspaces, { query: given({ project }) });
    if (json) return this.print(writeJson(answer));
    const { workspaces, size, trash } = answer;
    if (workspaces.length === 0) this.say("There are no workspaces. A task gets one when it starts to work.");
    else this.print(writeTable(columns(this, workspaces), workspaces.map(row), this.tableWidth));
    for (const { path, reason } of workspaces.filter((each) => each.reason !== ""))
      this.say(`${this.talkPaint.yellow("warning:")} ${path}: ${reason}`);
    if (workspaces.length > 0) this.say(`\n${count(workspaces.length, "workspace")}, ${writeSize(size)}.`);
    if (trash.folders > 0) this.say(`The trash has ${count(trash.folders, "folder")}, ${writeSize(trash.size)}.`);
  },
});

function columns({ paint }: Context, workspaces: readonly WorkspaceView[]) {
  const colour = (cell: string, i: number) => (workspaces[i]?.state === "clean" ? cell : paint.yellow(cell));
  return [
    { title: "PROJECT" },
    { title: "TASK", paint: paint.bold },
    { title: "STATE", paint: colour },
    { title: "BRANCH" },
    { title: "KIND" },
    { title: "SIZE", align: "right" },
    { title: "PATH" },
  ] as const;
}

function row(workspace: WorkspaceView): readonly string[] {
  const { project, task, state, branch, kind, size, isCut, isUnsaved, path } = workspace;
  const takes = `${isCut ? "over " : ""}${writeSize(size)}`;
  const owner = task === null ? (isUnsaved ? "unsaved" : "free") : `${project}#${task.number}`;
  return [project, owner, state, branch ?? "–", kind, takes, path];
}

export const workspaceCommands = buildRouteMap({
  routes: { list, gc },
  aliases: { ls: "list" },
  docs: { brief: "List the folders that agents work in, and clean them up" },
});
