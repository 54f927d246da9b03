import { findWorkflow } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { describeWorkflow } from "../../describe-workflow.ts";
import { loadSound } from "../../load-found.ts";
import { workflowDocument } from "../../workflow-document.ts";
import { writeJson } from "../../write-json.ts";

export function show(this: Context, { json }: { json: boolean }, reference: string) {
  const found = findWorkflow(this, reference);
  const workflow = loadSound(found);
  if (json) return this.print(writeJson(workflowDocument(workflow, found.file)));
  this.print(describeWorkflow(workflow, found.shown, this.columns, this.paint));
}
