// Loaded before a program: kills it before the nth of its changing calls, counted from 1.
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
// Also for modules that import these functions by name.
require("node:module").syncBuiltinESMExports();

function guard(module, name) {
  const call = module[name];
  module[name] = (...args) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
    return call(...args);
  };
}
