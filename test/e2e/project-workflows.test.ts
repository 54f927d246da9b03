import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { launcher } from "../programs.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-project-"));
afterAll(() => rmSync(base, { recursive: true }));
const home = join(base, "home");
const repository = join(base, "app");
const deep = join(repository, "src", "deep");
const folder = join(repository, ".signalbox", "workflows");
const ours = "version: 1\ndescription: Ours\nstates: { todo: { next: over }, over: { terminal: true } }\n";

for (const each of [join(repository, ".git"), deep, folder, join(home, "workflows")]) {
  mkdirSync(each, { recursive: true });
}
writeFileSync(join(folder, "default.yml"), ours);
writeFileSync(join(folder, "release.yml"), ours);
writeFileSync(join(folder, "stray.yaml"), ours);
writeFileSync(join(home, "workflows", "release.yml"), ours);

function signalbox(cwd: string, ...args: string[]) {
  const env = { ...process.env, SIGNALBOX_HOME: home, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(launcher, args, { cwd, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("in a repository its own workflows are listed first", () => {
  const list = signalbox(deep, "workflow", "list");
  expect(list.status).toBe(0);
  expect(list.stdout).toMatch(/^default +project +2 {2}Ours$/m);
  expect(list.stdout).toMatch(/^release +project +2 {2}Ours$/m);
  expect(list.stdout).toMatch(/^minimal +built-in /m);
  expect(list.stderr).toContain("stray.yaml is not read; name it stray.yml.");
  const { workflows } = JSON.parse(signalbox(deep, "workflow", "list", "--json").stdout);
  expect(workflows.find(({ name }: { name: string }) => name === "default")).toMatchObject({
    from: "project",
    file: join(folder, "default.yml"),
  });
  expect(signalbox(deep, "workflow", "show", "default").stdout).toContain("Ours");
});

test("outside the repository its workflows are not listed", () => {
  const list = signalbox(base, "workflow", "list");
  expect(list.stdout).toMatch(/^default +built-in /m);
  expect(list.stdout).toMatch(/^release +you /m);
});

test("a repository's workflow cannot be ejected, but a copy of a built-in one can have its name", () => {
  const own = signalbox(deep, "workflow", "eject", "release", "mine");
  expect(own.status).toBe(3);
  expect(own.stderr).toContain(`"release" is already the repository's own: `);
  expect(signalbox(deep, "workflow", "eject", "default").status).toBe(0);
});
