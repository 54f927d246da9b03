import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createStage, faultOf } from "./stage.ts";

const stage = createStage("runner");

/** A program in place of git: it answers `version`, and otherwise runs the given script. */
function fake(script: string, version = "2.39.5"): string {
  const path = stage.path("git");
  writeFileSync(path, `#!/bin/sh\n[ "$1" = version ] && { echo 'git version ${version}'; exit 0; }\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const asked = (program: string, options = {}) =>
  faultOf(stage.createGit({ program, ...options }).identityOf(stage.base));

test("a missing or too old git is refused before the first command", async () => {
  expect(await asked("/nowhere/git")).toMatchObject({ code: "git.missing" });
  const ran = stage.path("ran");
  for (const version of ["2.37.9", "1.9.0", "rubbish"]) {
    const fault = await asked(fake(`touch ${ran}`, version));
    expect(fault).toMatchObject({ code: "git.too-old" });
    expect(fault.message).toContain(version);
  }
  expect(existsSync(ran)).toBe(false);
  for (const version of ["2.38.0", "2.51.0.rc1", "3.0.0"]) {
    await stage.createGit({ program: fake("echo 'A <a@b> 1 +0000'", version) }).identityOf(stage.base);
  }
});

test("a git that fails on the half-written record of a new worktree is started again", async () => {
  const seen = stage.path("seen");
  const stumbles = `fatal: failed to read /coffee/.git/worktrees/27/commondir: Success`;
  const program = fake(
    `[ -e ${seen} ] && { echo 'A <a@b> 1 +0000'; exit 0; }; touch ${seen}; echo '${stumbles}' >&2; exit 128`,
  );
  expect(await stage.createGit({ program }).identityOf(stage.base)).toEqual({ name: "A", email: "a@b" });
  const never = fake(`echo '${stumbles}' >&2; exit 128`);
  expect(await asked(never)).toMatchObject({ code: expect.stringMatching(/^git\./) });
});

test("a git that is installed later is found without a restart", async () => {
  const program = stage.path("git");
  const git = stage.createGit({ program });
  expect(await faultOf(git.identityOf(stage.base))).toMatchObject({ code: "git.missing" });
  writeFileSync(program, `#!/bin/sh\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  expect(await git.identityOf(stage.repository().folder)).toMatchObject({ name: "Ada" });
});

test("a missing folder is not reported as a missing git", async () => {
  expect(await faultOf(stage.git.identityOf(join(stage.base, "none")))).toMatchObject({ code: "git.not-a-repository" });
});

test("a command that takes too long is stopped with all its children", async () => {
  const pid = stage.path("pid");
  const program = fake(`sleep 60 & echo $! > ${pid}\nwait`);
  const before = Date.now();
  const fault = await asked(program, { limits: { short: 300, long: 300 } });
  expect(fault).toMatchObject({ code: "git.timeout", retry: "later" });
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
});

test("a git that ignores SIGTERM is killed", async () => {
  const program = fake("trap '' TERM\nsleep 60");
  const before = Date.now();
  expect(await asked(program, { limits: { short: 300, long: 300 } })).toMatchObject({ code: "git.timeout" });
  expect(Date.now() - before).toBeLessThan(20_000);
});

test("when the daemon stops, git is stopped and no command is started", async () => {
  const stopper = new AbortController();
  const begun = stage.path("begun");
  const git = stage.createGit({ program: fake(`touch ${begun}\nsleep 60`), signal: stopper.signal });
  const running = faultOf(git.identityOf(stage.base));
  while (!existsSync(begun)) await pause(10);
  stopper.abort();
  expect(await running).toMatchObject({ code: "git.stopped", retry: "later" });
  expect(await faultOf(git.identityOf(stage.base))).toMatchObject({ code: "git.stopped" });
});

test("a single command can be stopped by its own signal", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const order = { folder: user.folder, branch: "main", task: "t1", signal: AbortSignal.abort() };
  expect(await faultOf(control.collect(order))).toMatchObject({ code: "git.stopped" });
  expect(await faultOf(control.salvage({ ...order, at: 0 }))).toMatchObject({ code: "git.stopped" });
  expect(await control.collect({ folder: user.folder, branch: "main", task: "t1" })).toMatchObject({});
});

test("git's messages are quoted without passwords, colours and hints", async () => {
  const lines = [
    ...Array.from({ length: 50 }, (_, line) => `line ${line}`),
    "hint: use --force",
    "fatal: \\033[31munable\\a to access https://ada:s3@cret@example.org/x?y=1",
    "fatal: ssh://ada:s3cret@example.org/ and https://t0ken@example.org/ and ssh://git@example.org/",
  ];
  const fault = await asked(fake(`printf '${lines.join("\\n")}\\n' >&2\nexit 3`));
  expect(fault).toMatchObject({ code: "git.failed", retry: "never" });
  expect(fault.message).toBe(
    [
      `"git var" ended with 3 in ${stage.base}.`,
      "line 46",
      "line 47",
      "line 48",
      "line 49",
      "fatal: unable to access https://…@example.org/x?y=1",
      "fatal: ssh://ada:…@example.org/ and https://…@example.org/ and ssh://git@example.org/",
    ].join("\n"),
  );
});

test("a command whose git was killed may be retried", async () => {
  expect(await asked(fake("kill -9 $$"))).toMatchObject({ code: "git.failed", retry: "later" });
});

test("a git that never stops printing is stopped", async () => {
  expect(await asked(fake("exec cat /dev/zero"))).toMatchObject({ code: "git.too-much" });
});

test("the runner does not wait for a process that git left running", async () => {
  const before = Date.now();
  await stage.createGit({ program: fake("sleep 20 &\necho 'A <a@b> 1 +0000'") }).identityOf(stage.base);
  expect(Date.now() - before).toBeLessThan(10_000);
});

test("the message about a lock names the git process that holds it", async () => {
  const user = stage.repository();
  const clone = stage.path("clone");
  user.git("clone", "--quiet", user.folder, clone);
  const control = await stage.control(user);
  const lock = join(control.folder, "refs/heads/main.lock");
  writeFileSync(lock, "");
  utimesSync(lock, 1_000_000, 1_000_000);
  // This git process waits for input.
  const holder = spawn("git", ["cat-file", "--batch"], { cwd: control.folder, stdio: ["pipe", "pipe", "ignore"] });
  try {
    holder.stdin.write("HEAD\n");
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const fault = await faultOf(control.moveRef("refs/heads/main", user.at("main"), undefined));
    expect(fault).toMatchObject({ code: "git.locked", retry: "later" });
    expect(fault.message).toContain(`git is running there (process ${holder.pid})`);
    expect(fault.message).toContain("since 1970-01-12T13:46:40.000Z");
    expect(existsSync(lock)).toBe(true);
  } finally {
    holder.kill();
  }
});

function isAlive(pid: number): boolean {
  try {
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith("Z");
  } catch {
    return false;
  }
}
