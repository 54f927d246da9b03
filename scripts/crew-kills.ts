// A crew of scripted agents works through a folder of tickets with real git, while a second process kills the daemon
// repeatedly; then scripts/check-promises.ts, which shares no code with the daemon, checks the result.
// npm run crew-kills -- --kills 200 --seed 1 [--tickets 50] [--agents 8] [--keep]
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import buildPrograms from "../test/build-programs.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    tickets: { type: "string", default: "50" },
    agents: { type: "string", default: "8" },
    keep: { type: "boolean", default: false },
  },
});
const number = (name: "kills" | "seed" | "tickets" | "agents"): number => {
  if (/^\d{1,6}$/.test(values[name])) return Number(values[name]);
  process.stderr.write(`--${name} must be a whole number, not "${values[name]}".\n`);
  process.exit(2);
};
const plan = { kills: number("kills"), seed: number("seed"), tickets: number("tickets"), agents: number("agents") };

const removePrograms = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { crewUnderFire } = await import("../test/faults/crew/under-fire.ts");
const began = Date.now();
const field = await crewUnderFire({
  ...{ ...plan, hopeless: true },
  onKill({ kill }) {
    if (kill % 10 === 0) process.stderr.write(`${kill} kills, ${Math.round((Date.now() - began) / 1000)} s\n`);
  },
});
const { kills, locks, daemons, left, repository, control, histories, notes, home } = field;
const whole = kills.filter(({ below }) => below > 0).length;
const starting = kills.filter(({ isStarting }) => isStarting).length;
print(`${plan.tickets} tickets and 2 that cannot be closed, ${plan.agents} agents, seed ${plan.seed}`);
print(
  `${kills.length} kills: ${starting} while it started, ${whole} with the git that it had started; ${daemons} daemons`,
);
print(
  `${plan.tickets - left.length} tickets are closed${left.length === 0 ? "" : `, and these are not: ${left.join(", ")}`}`,
);
print(`${locks} locks of killed gits removed, as a person would; ${Math.round((Date.now() - began) / 1000)} s`);
const check = join(import.meta.dirname, "check-promises.ts");
const { status } = spawnSync(process.execPath, [check, repository, control, histories, notes], { stdio: "inherit" });
const failed = status !== 0 || left.length > 0 || kills.length < plan.kills;
if (values.keep || failed) print(`Everything is kept in ${home.base}`);
else home.remove();
removePrograms?.();
process.exit(failed ? 1 : 0);

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
