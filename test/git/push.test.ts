import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { controlGit, createStage, faultOf, repositoryAt } from "./stage.ts";

const stage = createStage("push");

/** A remote with the user's main branch, and a control repository with a task's commit on top of it. */
async function remotes() {
  const user = stage.repository();
  const remote = repositoryAt(stage.path("remote.git"), stage.env);
  user.git("clone", "--quiet", "--bare", user.folder, remote.folder);
  const main = user.at("main");
  user.git("checkout", "--quiet", "-b", "task");
  const first = user.commit({ "a.txt": "first\n" });
  user.git("reset", "--quiet", "--hard", "main");
  const second = user.commit({ "a.txt": "second\n" });
  user.git("branch", "first", first);
  const control = await stage.control(user);
  const push = (commit: string, expected: string | undefined, isOwn = true, branch = "task", to = remote.folder) =>
    control.pushBranch({ remote: to, branch, commit, expected, isOwn });
  return { user, remote, main, first, second, control, push };
}

test("a branch is pushed, moved and pushed again; the commit that it leaves is pinned", async () => {
  const { remote, first, second, control, push } = await remotes();
  await push(first, undefined);
  await push(first, undefined);
  expect(remote.at("task")).toBe(first);
  await push(second, first, true, "task", `file://${remote.folder}`);
  // Idempotent: the branch may have been pushed right before a crash.
  await push(second, first);
  expect(remote.at("task")).toBe(second);
  expect(controlGit(stage, control)("for-each-ref", "--format=%(objectname)", "refs/signalbox/kept/remote")).toBe(
    first,
  );
});

test("a remote branch that another person has moved or created is not overwritten", async () => {
  const { remote, main, first, second, push } = await remotes();
  remote.git("update-ref", "refs/heads/task", main);
  expect(await faultOf(push(second, undefined))).toMatchObject({ code: "git.ref-moved", retry: "later" });
  expect(await faultOf(push(second, first))).toMatchObject({ code: "git.ref-moved" });
  expect(await faultOf(push(second, "1".repeat(40)))).toMatchObject({ code: "git.ref-moved" });
  expect(remote.at("task")).toBe(main);
});

test("a shared remote branch is only fast-forwarded", async () => {
  const { remote, main, first, second, push } = await remotes();
  await push(first, main, false, "main");
  expect(remote.at("main")).toBe(first);
  expect(await faultOf(push(second, first, false, "main"))).toMatchObject({
    code: "git.remote-refused",
    retry: "never",
  });
  expect(await faultOf(push(main, first, false, "main"))).toMatchObject({ code: "git.remote-refused" });
  expect(remote.at("main")).toBe(first);
});

test("the fault of a refused push quotes the remote's message", async () => {
  const { remote, first, push } = await remotes();
  remote.write("hooks/pre-receive", "#!/bin/sh\necho 'Only on Mondays.' >&2\nprintf '\\033[31m\\a' >&2\nexit 1\n");
  chmodSync(join(remote.folder, "hooks/pre-receive"), 0o755);
  const fault = await faultOf(push(first, undefined));
  expect(fault).toMatchObject({ code: "git.remote-refused", retry: "never" });
  expect(fault.message).toContain("remote: Only on Mondays.");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not get through.
  expect(fault.message).not.toMatch(/[\u001b\u0007]/);
});

test("a push runs neither the user's hooks nor those of the control repository", async () => {
  const { first, control, push } = await remotes();
  const hooks = join(control.folder, "hooks");
  repositoryAt(control.folder, stage.env).write("hooks/pre-push", `#!/bin/sh\ntouch ${stage.base}/pushed\nexit 1\n`);
  chmodSync(join(hooks, "pre-push"), 0o755);
  writeFileSync(join(stage.env.HOME ?? "", ".gitconfig"), `[core]\n\thooksPath = ${hooks}\n`, { flag: "a" });
  await push(first, undefined);
});

test("addresses with a program or another protocol are refused", async () => {
  const { first, push } = await remotes();
  for (const address of ["ext::sh -c true", "--receive-pack=true", "http://x/y", "git://x/y", "relative", "fd::3"])
    expect(await faultOf(push(first, undefined, true, "task", address))).toMatchObject({ code: "git.remote-refused" });
});

test("a push to an unreachable server may be retried, and its fault contains no passwords", async () => {
  const { first, push } = await remotes();
  const server = createServer((_, response) => response.writeHead(500).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // The server does not speak the protocol of its address.
  const fault = await faultOf(push(first, undefined, true, "task", `https://ada:s3cret@127.0.0.1:${port}/x.git`));
  expect(fault).toMatchObject({ code: "git.remote-unreachable", retry: "later" });
  expect(fault.message).not.toContain("s3cret");
  server.close();
});

test.each([
  [401, "git.remote-refused", "never"],
  [403, "git.remote-refused", "never"],
  [404, "git.remote-refused", "never"],
  [502, "git.remote-unreachable", "later"],
] as const)("a server's answer %i gets the right fault and retry", async (status, code, retry) => {
  const { first, control } = await remotes();
  const said = `fatal: unable to access 'https://x/': The requested URL returned error: ${status}`;
  const program = stage.path("git");
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *" push "*) echo "${said}" >&2; exit 128 ;; esac\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  const opened = await stage.createGit({ program }).openControl(control.folder);
  const order = { remote: "https://x/", branch: "task", commit: first, expected: undefined, isOwn: true };
  expect(await faultOf(opened.pushBranch(order))).toMatchObject({ code, retry });
});

test("the message of ssh decides whether a push is retried", async () => {
  const { first, control } = await remotes();
  const sayings = [
    ["ssh: connect to host x port 22: Connection refused", "git.remote-unreachable", "later"],
    ["ssh: Could not resolve hostname x: Name or service not known", "git.remote-unreachable", "later"],
    ["git@x: Permission denied (publickey).", "git.remote-refused", "never"],
    ["Host key verification failed.", "git.remote-refused", "never"],
    ["ERROR: Repository not found.", "git.remote-refused", "never"],
  ] as const;
  for (const [saying, code, retry] of sayings) {
    const ssh = stage.path("ssh");
    writeFileSync(ssh, `#!/bin/sh\necho '${saying}' >&2\nexit 255\n`);
    chmodSync(ssh, 0o755);
    const git = stage.createGit({ env: { ...stage.env, GIT_SSH_COMMAND: ssh } });
    const opened = await git.openControl(control.folder);
    for (const remote of ["git@x:y.git", "ssh://git@x/y.git"]) {
      const pushed = opened.pushBranch({ remote, branch: "task", commit: first, expected: undefined, isOwn: true });
      expect(await faultOf(pushed)).toMatchObject({ code, retry });
    }
    expect(await faultOf(opened.syncFrom({ from: "git@x:y.git", name: "origin" }))).toMatchObject({ code, retry });
  }
});
