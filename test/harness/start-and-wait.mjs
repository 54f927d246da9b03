// Starts the program that a file describes, with its output in files, and waits to be killed.
import { spawn } from "node:child_process";
import { openSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const { argv, env, input, cwd, output, errors, inputFile, pidFile } = JSON.parse(readFileSync(process.argv[2], "utf8"));
writeFileSync(inputFile, input);
const stdio = [openSync(inputFile, "r"), openSync(output, "w"), openSync(errors, "w")];
const child = spawn(argv[0], argv.slice(1), { cwd, env, stdio, detached: true });
writeFileSync(`${pidFile}.draft`, String(child.pid));
renameSync(`${pidFile}.draft`, pidFile);
setInterval(() => undefined, 60_000);
