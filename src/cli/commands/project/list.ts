import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";

export async function list(this: Context, { json }: { json: boolean }) {
  const answer = await createCall(this)(routes.listProjects);
  if (json) return this.print(writeJson(answer));
  const { projects } = answer;
  if (projects.length === 0)
    return this.say("There is no project yet. To make a repository one, in it: signalbox init");
  const columns = [
    { title: "NAME", paint: this.paint.bold },
    { title: "WORKFLOW" },
    { title: "HARNESS" },
    { title: "POOL", align: "right" },
    { title: "WORKSPACES" },
    { title: "BRANCH" },
    { title: "PATH" },
  ] as const;
  const rows = projects.map(({ name, workflow, harness, poolSize, workspaces, defaultBranch, path }) => [
    name,
    workflow || "–",
    harness || "–",
    String(poolSize),
    workspaces,
    defaultBranch,
    path,
  ]);
  this.print(writeTable(columns, rows, this.tableWidth));
  if (projects.some(({ workflow, harness }) => workflow === "" || harness === ""))
    this.say("\n– is what the configuration says. To see it, in the repository: signalbox config get");
}
