// What a scripted agent of a crew runs: it works in its folder, and notes what must never be lost. Nobody else reads the
// notes before the end, and nobody but agents writes them.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [notes, task, what] = process.argv.slice(2);
const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.org"];
const git = (...args) => execFileSync("git", [...identity, ...args], { encoding: "utf8" }).trim();
const note = (...words) => appendFileSync(join(notes, "made"), `${words.join(" ")}\n`);

/** One line of its own for everything that is made, so that nothing is made twice. */
const once = `${task} ${randomUUID()}\n`;
const file = join("work", task, `${randomUUID()}.txt`);

mkdirSync(notes, { recursive: true });
const desk = join(notes, `at-${task}`);
const sitting = existsSync(desk) ? Number(readFileSync(desk, "utf8")) : 0;
if (isAlive(sitting)) note("double", task, process.env.SIGNALBOX_RUN ?? "", String(sitting));
writeFileSync(desk, String(process.pid));
doIt();
rmSync(desk, { force: true });

function doIt() {
  if (what === "leave") return leave();
  if (what === "resolve") return resolve();
  if (what === "break") writeFileSync("broken", once);
  if (what === "mend") rmSync("broken", { force: true });
  if (what === "share") writeFileSync(shared(), once);
  write();
  commit(`${what} for ${task}`);
}

function write() {
  mkdirSync(join("work", task), { recursive: true });
  writeFileSync(file, once);
}

function leave() {
  write();
  note("content", task, git("hash-object", file));
}

function commit(message) {
  git("add", "-A");
  git("commit", "--quiet", "--allow-empty", "-m", message);
  note("commit", task, git("rev-parse", "HEAD"));
}

/** Both sides are kept: every line that either has. */
function resolve() {
  try {
    git("merge", "--quiet", "--no-edit", "main");
  } catch {
    const lines = readFileSync(shared(), "utf8").split("\n");
    const both = lines.filter((line) => line !== "" && !/^[<=>|]{7}/.test(line));
    writeFileSync(shared(), `${[...new Set(both)].join("\n")}\n`);
    git("add", "-A");
    git("commit", "--quiet", "--no-edit");
  }
  note("commit", task, git("rev-parse", "HEAD"));
}

/** Some share a file with some: where all do, most work is lost to conflicts. */
function shared() {
  return `shared-${task.charCodeAt(0) % 4}.txt`;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch {
    return false;
  }
}
