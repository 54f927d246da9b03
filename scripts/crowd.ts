// Runs thirty tasks of three workflows in parallel, with fewer seats and workspaces than tasks: a real daemon, scripted agents
// of which some crash, ask, and fail their review. Exits with 1 if a task is starved, or a person is called twice for one need.
// npm run crowd -- [--tasks 30] [--seats 4] [--workspaces 6] [--live 3] [--kills 1] [--keep]
import { parseArgs } from "node:util";
import buildPrograms from "../test/build-programs.ts";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "30" },
    seats: { type: "string", default: "4" },
    workspaces: { type: "string", default: "6" },
    live: { type: "string", default: "3" },
    kills: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
  },
});
const number = (name: "tasks" | "seats" | "workspaces" | "live" | "kills"): number => {
  if (/^\d{1,4}$/.test(values[name])) return Number(values[name]);
  process.stderr.write(`--${name} must be a whole number, not "${values[name]}".\n`);
  process.exit(2);
};
const plan = { seats: number("seats"), workspaces: number("workspaces"), live: number("live"), kills: number("kills") };
const each = Math.max(1, Math.round(number("tasks") / 3));

const removePrograms = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { liveCrowd } = await import("../test/faults/crowd/crowd.ts");
const { manners } = await import("../test/faults/crowd/crowd-script.ts");
const began = Date.now();
let toldAt = began;
const seconds = () => Math.round((Date.now() - began) / 1000);
const end = await liveCrowd({
  ...{ ...plan, each },
  onLook({ over, asking }) {
    if (Date.now() - toldAt < 10_000) return;
    toldAt = Date.now();
    process.stderr.write(`${over} of ${each * 3} are over, ${asking} ask for a person, ${seconds()} s\n`);
  },
});
const over = end.tasks.filter(({ task }) => task.phase === "over");
const asking = end.tasks.filter(({ asks, task }) => asks && task.phase !== "over");
const wrong = end.tasks.filter(({ task, wanted }) => (task.phase === "over") !== (manners[wanted.manner] === "over"));
print(
  `${end.tasks.length} tasks of default, classic and crew; ${plan.seats} seats, ${plan.workspaces} workspaces, ${plan.live} idle programs, ${plan.kills} kills`,
);
print(
  `${over.length} are over, ${asking.length} ask for a person; ${end.calls} calls, ${end.repeated.length} of them repeated; ${seconds()} s`,
);
print(`at most ${end.working} worked at once; ${end.slept} times an idle program was ended to make room`);
for (const { task } of wrong) print(`wrong: ${task.summary} is in ${task.status}`);
for (const each of end.repeated) print(`called twice: ${each}`);
const failed = wrong.length + end.repeated.length + Math.max(0, end.working - plan.seats) > 0;
if (values.keep || failed) print(`Everything is kept in ${end.home.base}`);
else end.home.remove();
removePrograms?.();
process.exit(failed ? 1 : 0);

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
