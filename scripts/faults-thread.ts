// One of the threads in which `npm run faults` lives: gets the first seed and the one after the last, gives what came of them.
import { parentPort, workerData } from "node:worker_threads";
import { simulateFaults } from "../src/testing/simulator/simulate-faults.ts";
import { readSimulated } from "../src/testing/simulator/simulated-workflows.ts";

// Faults are many, and nobody reads where they were made.
Error.stackTraceLimit = 0;
const { names, isCrowded } = workerData as { readonly names: readonly string[]; readonly isCrowded: boolean };
const workflows = names.map(readSimulated);
parentPort?.on("message", async ([first, end]: readonly [number, number]) => {
  const seeds = Array.from({ length: end - first }, (_, index) => first + index);
  parentPort?.postMessage(await simulateFaults(workflows, seeds, { isCrowded }));
});
