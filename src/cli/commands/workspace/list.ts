import { routes } from "../../../api/routes.ts";
import type { WorkspaceView } from "../../../api/workspace-wires.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { given } from "../../given.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeSize } from "../../write-size.ts";

export interface ListFlags {
  readonly project?: string;
  readonly json: boolean;
}

export async function list(this: Context, { project, json }: ListFlags) {
  const answer = await createCall(this)(routes.listWorkspaces, { query: given({ project }) });
  if (json) return this.print(writeJson(answer));
  const { workspaces, size, trash } = answer;
  if (workspaces.length === 0) this.say("There are no workspaces. A task gets one when it starts to work.");
  else this.print(writeTable(columns(this, workspaces), workspaces.map(row), this.tableWidth));
  for (const { path, reason } of workspaces.filter((each) => each.reason !== ""))
    this.say(`${this.talkPaint.yellow("warning:")} ${path}: ${reason}`);
  if (workspaces.length > 0) this.say(`\n${count(workspaces.length, "workspace")}, ${writeSize(size)}.`);
  if (trash.folders > 0) this.say(`The trash has ${count(trash.folders, "folder")}, ${writeSize(trash.size)}.`);
}

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

function row({ project, task, state, branch, kind, size, isCut, path }: WorkspaceView): readonly string[] {
  const takes = `${isCut ? "over " : ""}${writeSize(size)}`;
  return [project, task === null ? "free" : `${project}#${task.number}`, state, branch ?? "–", kind, takes, path];
}
