// A worker thread of `npm run faults`: gets a range of seeds (the end exclusive), and returns the results.
import { parentPort, workerData } from "node:worker_threads";
import { simulateFaults } from "../test/simulator/simulate.ts";
import { readSimulated } from "../test/simulator/world.ts";

// Faults are many, and their stack traces are never read.
Error.stackTraceLimit = 0;
const { names, isCrowded } = workerData as { readonly names: readonly string[]; readonly isCrowded: boolean };
const workflows = names.map(readSimulated);
parentPort?.on("message", async ([first, end]: readonly [number, number]) => {
  const seeds = Array.from({ length: end - first }, (_, index) => first + index);
  parentPort?.postMessage(await simulateFaults(workflows, seeds, { isCrowded }));
});
