import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createScriptedClock } from "../scripted-ports.ts";
import { createScriptedProcesses, type ScriptedStep } from "../scripted-processes.ts";
import { processesContract } from "./contract.ts";
import { openProcesses } from "./stage.ts";

const player = join(import.meta.dirname, "player.cjs");

processesContract("real programs", () => ({
  processes: openProcesses().processes,
  argv: (steps) => (steps === undefined ? ["no-such-program"] : [process.execPath, player, JSON.stringify(steps)]),
  pass: () => sleep(10),
}));

processesContract("scripted programs", () => {
  const clock = createScriptedClock();
  const play = ({ argv }: { readonly argv: readonly string[] }) =>
    argv[1] === undefined ? undefined : (JSON.parse(argv[1]) as ScriptedStep[]);
  return {
    processes: createScriptedProcesses({ clock, play }),
    argv: (steps) => (steps === undefined ? ["no-such-program"] : ["player", JSON.stringify(steps)]),
    pass: () => clock.pass(50),
  };
});
