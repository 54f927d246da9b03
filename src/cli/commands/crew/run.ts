import { routes } from "../../../api/routes.ts";
import { canAsk } from "../../ask.ts";
import { askPermissions, mustAllow } from "../../ask-permissions.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { findProject } from "../../find-project.ts";
import { given } from "../../given.ts";
import { workflowReference } from "../../workflow-reference.ts";
import { writeJson } from "../../write-json.ts";
import { type CrewFlags, tellRunner } from "./ps.ts";

export interface RunFlags extends CrewFlags {
  readonly most?: number;
  readonly workflow?: string;
  readonly "allow-full-permissions": boolean;
}

export async function run(this: Context, flags: RunFlags) {
  const call = createCall(this);
  const { name: project } = await findProject(call, flags.project);
  const workflow = flags.workflow && workflowReference(flags.workflow);
  let allowFullPermissions = flags["allow-full-permissions"] || undefined;
  if (allowFullPermissions === undefined && !flags.json && canAsk()) {
    const query = { workflow: workflow ?? "crew" };
    const permissions = await call(routes.projectPermissions, { params: { project }, query });
    if (mustAllow(permissions)) {
      if (!(await askPermissions(this, project, permissions))) {
        this.say("No ticket is given out.");
        this.process.exitCode = exitCodes.failed;
        return;
      }
      allowFullPermissions = true;
    }
  }
  const body = given({ most: flags.most, workflow, allowFullPermissions });
  const crew = await call(routes.runCrew, { params: { project }, body });
  if (flags.json) return this.print(writeJson(crew));
  if (crew.agents.length === 0) this.say(`${project} has no agents yet. To make three: signalbox crew spawn 3`);
  tellRunner(this, crew);
  this.say("To watch: signalbox crew dashboard. To stop: signalbox crew stop");
}

export async function stop(this: Context, flags: CrewFlags) {
  const call = createCall(this);
  const { name: project } = await findProject(call, flags.project);
  const crew = await call(routes.stopCrew, { params: { project }, body: {} });
  if (flags.json) return this.print(writeJson(crew));
  const busy = crew.agents.filter(({ state }) => state !== "idle").map(({ name }) => name);
  const goOn = busy.length === 1 ? `${busy[0]} goes on.` : `${busy.length} agents go on.`;
  this.say(`No more tickets are given out. ${busy.length === 0 ? "Nobody is at work." : goOn}`);
  if (busy.length > 0) this.say(`To let that rest too, and lose nothing: signalbox pause --project ${project} --now`);
}
