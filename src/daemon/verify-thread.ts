import { parentPort, workerData } from "node:worker_threads";
import { writeStep } from "../engine/explore/step.ts";
import { loadWorkflow } from "../engine/language/load.ts";
import { verify } from "../engine/verify/verify.ts";
import type { Proof, ProofOrder } from "./workflow-proofs.ts";

/** Proves one workflow in a thread of its own: exploring it can take many seconds. */
function prove({ name, file, text, names, children }: ProofOrder): Proof {
  const { workflow, problems } = loadWorkflow(text, file, names);
  if (workflow === undefined) throw new Error(problems[0]?.message ?? "It does not load.");
  const workflowNamed = (wanted: string) => {
    const child = children.find((each) => each.name === wanted);
    return child && loadWorkflow(child.text, child.name).workflow;
  };
  const { findings, positions, steps, variants, proved } = verify(workflow, problems, { name, workflowNamed });
  return {
    ...{ proved, positions, steps, variants },
    findings: findings.map(({ level, code, state, message, fix, example }) => ({
      ...{ level, code, state, message, fix },
      route: [...(example?.route ?? [])],
      steps: example?.steps.map(writeStep) ?? [],
    })),
  };
}

parentPort?.postMessage(prove(workerData as ProofOrder));
