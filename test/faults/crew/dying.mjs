// Loaded into a daemon before its own code (node --import): lets the process die by SIGKILL at one exact point, before or after
// something it does to the world: a write of the store, a program it starts, a file it puts into its place.
// The file SIGNALBOX_DEATH says where, as soon as it is there: { what, when, at }, a regular expression for the point, "before" or
// "after", and which of them, from 1. Into SIGNALBOX_POINTS every point is written.
import childProcess from "node:child_process";
import fs, { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { StatementSync } from "node:sqlite";

const { SIGNALBOX_DEATH: deathFile, SIGNALBOX_POINTS: pointsFile } = process.env;
let death;
let seen = 0;

/** Whether this is the point after which we die; where it is before, we are dead. */
function before(point) {
  appendFileSync(pointsFile, `${point}\n`);
  if (death === undefined && existsSync(deathFile)) death = JSON.parse(readFileSync(deathFile, "utf8"));
  if (death === undefined || !new RegExp(death.what).test(point) || ++seen !== (death.at ?? 1)) return false;
  // Whoever comes next lives.
  rmSync(deathFile);
  if (death.when === "before") die();
  return true;
}

function die() {
  process.kill(process.pid, "SIGKILL");
  // The signal comes at once, but nothing may be done in between.
  for (;;);
}

// A transaction is one point, when it is to become true.
let written = [];
const run = StatementSync.prototype.run;
StatementSync.prototype.run = function (...values) {
  const sql = this.sourceSQL.replace(/\s+/g, " ").trim();
  if (/^BEGIN/i.test(sql)) written = [];
  if (!/^COMMIT/i.test(sql)) {
    written.push(`${sql.slice(0, 60)} ${values.map((value) => String(value).slice(0, 300)).join(" ")}`);
    return run.apply(this, values);
  }
  const isIt = before(`write ${written.join("; ").replaceAll("\n", " ")}`);
  const result = run.apply(this, values);
  if (isIt) die();
  return result;
};

const spawn = childProcess.spawn;
childProcess.spawn = (program, args = [], options = {}) => {
  const isIt = before(`start ${basename(program)} ${plain(args).join(" ")}`);
  const child = spawn(program, args, options);
  // Those that outlive us are there when they were started, the others when they have ended.
  if (isIt) child.prependListener(args.some((arg) => /supervisor/.test(arg)) ? "spawn" : "exit", die);
  return child;
};

/** Without what git is told every time. */
function plain(args) {
  const short = args.map((arg) => basename(String(arg)));
  const first = short.findIndex((arg, index) => !arg.startsWith("-") && !["-c", "-C"].includes(short[index - 1]));
  return short.slice(Math.max(first, 0));
}

const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  const isIt = before(`place ${to}`);
  rename(from, to);
  if (isIt) die();
};
syncBuiltinESMExports();
