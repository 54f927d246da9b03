// Loaded into a daemon before its own code (node --import): kills the process with SIGKILL at one exact point, before or after
// an operation on the outside: a write of the store, the start of a program, the renaming of a file.
// The file SIGNALBOX_DEATH names the point once it exists: { what, when, at }, a regular expression for the operation, "before" or
// "after", and its number among those that match, from 1. Every point is written to SIGNALBOX_POINTS.
import childProcess from "node:child_process";
import fs, { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { StatementSync } from "node:sqlite";

const { SIGNALBOX_DEATH: deathFile, SIGNALBOX_POINTS: pointsFile } = process.env;
let death;
let seen = 0;

/** Whether to die after this operation. If the point is before it, this function does not return. */
function before(point) {
  appendFileSync(pointsFile, `${point}\n`);
  if (death === undefined && existsSync(deathFile)) death = JSON.parse(readFileSync(deathFile, "utf8"));
  if (death === undefined || !new RegExp(death.what).test(point) || ++seen !== (death.at ?? 1)) return false;
  // The next daemon lives.
  rmSync(deathFile);
  if (death.when === "before") die();
  return true;
}

function die() {
  process.kill(process.pid, "SIGKILL");
  // Block until the signal arrives.
  for (;;);
}

// A transaction is one point: its commit.
let written = [];
const run = StatementSync.prototype.run;
StatementSync.prototype.run = function (...values) {
  const sql = this.sourceSQL.replace(/\s+/g, " ").trim();
  if (/^BEGIN/i.test(sql)) written = [];
  if (!/^COMMIT/i.test(sql)) {
    written.push(`${sql.slice(0, 60)} ${values.map((value) => String(value).slice(0, 2_000)).join(" ")}`);
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
  // Detached programs count when they have started, the others when they have ended.
  if (isIt) child.prependListener(args.some((arg) => /supervisor/.test(arg)) ? "spawn" : "exit", die);
  return child;
};

/** Without the arguments that every git command has. */
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
