// Loaded before a program: kills it in front of one of the calls by which it changes something, counted from 1.
const fs = require("node:fs");
const childProcess = require("node:child_process");

const names = [
  "mkdirSync",
  "openSync",
  "writeSync",
  "writeFileSync",
  "fsyncSync",
  "ftruncateSync",
  "linkSync",
  "rmSync",
  "utimesSync",
];
let left = Number(globalThis.dieBefore);
for (const name of names) guard(fs, name);
guard(childProcess, "spawn");
// Also for modules that have imported them by name.
require("node:module").syncBuiltinESMExports();

function guard(module, name) {
  const call = module[name];
  module[name] = (...args) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
    return call(...args);
  };
}
