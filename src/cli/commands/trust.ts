import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { findProject } from "../find-project.ts";
import { workflowReference } from "../workflow-reference.ts";
import { writeJson } from "../write-json.ts";

export interface TrustFlags {
  readonly config: boolean;
  readonly project?: string;
  readonly json: boolean;
}

export async function trust(this: Context, flags: TrustFlags, workflow?: string) {
  if (flags.config !== (workflow === undefined)) {
    throw new Fault("usage", "Name a workflow, or say --config for the repository's configuration.", {
      hint: "To see how: signalbox trust --help",
    });
  }
  const call = createCall(this);
  const { name, path } = await findProject(call, flags.project);
  if (workflow === undefined) {
    const answer = await call(routes.trustConfig, { params: { project: name }, body: {} });
    if (flags.json) return this.print(writeJson(answer));
    this.print(answer.file);
    return this.say(`${asItIs(answer.hash)}\nThe commands in it may run: ${answer.commands.join(", ") || "none"}.`);
  }
  const { from, file } = findWorkflow({ home: this.home, repository: path }, workflow);
  if (from === "user" || from === "built-in") {
    throw new Fault("usage", `"${workflow}" is ${from === "user" ? "yours" : "built in"}, and needs no trust.`, {
      hint: `What does are files, and the workflows that the repository brings along: ${path}/.signalbox/workflows`,
    });
  }
  if (!flags.json) this.print(file);
  const answer = await call(routes.trust, { body: { project: name, workflow: workflowReference(workflow) } });
  if (flags.json) return this.print(writeJson(answer));
  this.say(asItIs(answer.hash));
}

function asItIs(hash: string): string {
  return `Trusted as it is now (${hash.slice(0, 12)}). When the file changes, it has to be trusted again.`;
}
