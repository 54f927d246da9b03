import { hash } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { WorkflowProof } from "../api/workflows.ts";
import { ownFile } from "./agents/run-programs.ts";

/** Everything that a proof depends on. */
export interface ProofOrder {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** The names of all workflows that children may have, and the texts of those that they do have. */
  readonly names: readonly string[];
  readonly children: readonly { readonly name: string; readonly text: string }[];
}

export type Proof = NonNullable<WorkflowProof["result"]>;

export interface WorkflowProofs {
  /** How far the proof of exactly this text is; the first question begins it. */
  of(order: ProofOrder): WorkflowProof;
}

/** More than anybody's workflows in a day. At this number the oldest is dropped. */
const maxProofs = 100;
/** The largest built-in workflow needs eight seconds, and a fifth of this memory. */
const timeLimit = 120_000;
const memoryLimit = { maxOldGenerationSizeMb: 1_024 } as const;

/**
 * Proofs of workflows, by the hash of all texts. Each is made in a thread, one after the other, so that the daemon answers
 * meanwhile.
 */
export function createWorkflowProofs(): WorkflowProofs {
  const known = new Map<string, WorkflowProof>();
  let last: Promise<void> = Promise.resolve();

  const run = (order: ProofOrder): Promise<WorkflowProof> =>
    new Promise((resolve) => {
      const worker = new Worker(ownFile("verify-thread"), { workerData: order, resourceLimits: memoryLimit });
      // A proof does not keep the daemon alive.
      worker.unref();
      const timer = setTimeout(() => end(failed(`It took longer than ${timeLimit / 1000} s.`)), timeLimit);
      timer.unref();
      const end = (proof: WorkflowProof) => {
        clearTimeout(timer);
        void worker.terminate();
        resolve(proof);
      };
      worker.once("message", (result: Proof) => end({ state: "done", reason: "", result }));
      worker.once("error", (error: Error) => end(failed(error.message)));
      worker.once("exit", () => end(failed("Its thread has ended.")));
    });

  return {
    of(order) {
      const key = hash("sha256", JSON.stringify(order));
      const before = known.get(key);
      if (before !== undefined) return before;
      const running: WorkflowProof = { state: "running", reason: "", result: null };
      const [oldest] = known.keys();
      if (known.size >= maxProofs && oldest !== undefined) known.delete(oldest);
      known.set(key, running);
      last = last.then(async () => {
        const proof = await run(order);
        if (known.get(key) === running) known.set(key, proof);
      });
      return running;
    },
  };
}

function failed(reason: string): WorkflowProof {
  return { state: "failed", reason: `It could not be proved here. ${reason}`, result: null };
}
