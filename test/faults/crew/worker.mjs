// The program that a scripted agent of a crew runs: it works in its folder, and records what must never be lost. Only
// agents write these records, and they are read only at the end.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [notes, task, what] = process.argv.slice(2);
const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.org"];
const git = (...args) => execFileSync("git", [...identity, ...args], { encoding: "utf8" }).trim();
const note = (...words) => appendFileSync(join(notes, "made"), `${words.join(" ")}\n`);

/** Records each piece of work on its own line, so that a duplicate is visible. */
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

/** Resolves a conflict by keeping every line of both sides. */
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

/** Some tickets share a file; if all did, conflicts would dominate. */
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
