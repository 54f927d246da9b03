import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fenced, root } from "../documents.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-install-")));
afterAll(() => removeFolder(base));

/** A stand-in for npm: it records its arguments, and installs a package for Node. */
const npm = `#!/bin/sh
echo "$PWD $*" >> "$NPM_LOG"
for last; do case "$last" in node-*@*)
  folder="node_modules/\${last%@*}"
  mkdir -p "$folder/bin"
  echo "{\\"version\\":\\"\${last#*@}\\"}" > "$folder/package.json"
  ln -s "$REAL_NODE" "$folder/bin/node"
esac; done
`;

function machine(name: string) {
  const folder = join(base, name);
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "npm"), npm);
  chmodSync(join(bin, "npm"), 0o755);
  const log = join(folder, "npm.log");
  const env = { HOME: join(folder, "home"), PATH: `${bin}:/usr/bin:/bin`, NPM_LOG: log, REAL_NODE: process.execPath };
  mkdirSync(env.HOME);
  return { folder, env, asked: () => (existsSync(log) ? readFileSync(log, "utf8") : "") };
}

test("the install commands of the README work in an empty home", () => {
  const { env: own } = machine("person");
  // Node may be in the checkout or the system's own.
  const env = { ...own, PATH: own.PATH.replace(":", `:${dirname(process.execPath)}:`) };
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const block = fenced(readme, "text").find((each) => each.includes("$ npm install")) ?? "";
  const lines = [...block.matchAll(/^\$ (.+)$/gm)].map(([, line = ""]) => line);
  expect(lines.at(-1)).toBe("signalbox doctor");
  const script = `set -e\n${lines.slice(0, -1).join("\n")}\nsignalbox --version`;
  const { status, stderr, stdout } = spawnSync("sh", ["-c", script], { cwd: root, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

/** A checkout on a machine with an older Node, and a function that runs its setup as npm does. */
function olderMachine(name: string) {
  const { folder, env, asked } = machine(name);
  const checkout = join(folder, "checkout");
  mkdirSync(join(checkout, "scripts"), { recursive: true });
  cpSync(join(root, "scripts/setup.mjs"), join(checkout, "scripts/setup.mjs"));
  cpSync(join(root, "bin"), join(checkout, "bin"), { recursive: true });
  mkdirSync(join(checkout, "src/cli"), { recursive: true });
  writeFileSync(join(checkout, "src/cli/main.ts"), "console.log(process.argv[2]);\n");
  // Makes this Node look like an old one.
  const old =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';
  const setup = [join(checkout, "scripts/setup.mjs"), "--prepare"];
  const options = { cwd: checkout, env, timeout: 30_000 };
  const run = () => spawnSync(process.execPath, ["--import", old, ...setup], { ...options, encoding: "utf8" });
  return { checkout, env, asked, run };
}

test("npm install installs Node 24 if the system's is older, and the command line then runs with it", () => {
  const { checkout, env, asked, run } = olderMachine("older");
  expect(run()).toMatchObject({ status: 0, stderr: expect.stringContaining("installing Node 24.") });
  expect(asked()).toContain(`${checkout}/.node install --no-save --no-package-lock node-`);
  expect(execFileSync(join(checkout, "bin/signalbox"), ["it runs"], { env, encoding: "utf8" })).toBe("it runs\n");
  const before = asked();
  expect(run().status).toBe(0);
  expect(asked()).toBe(before);
});

test("a setup takes over the lock of one that died, and leaves none", () => {
  const { checkout, run } = olderMachine("left");
  const lock = join(checkout, ".setup-lock");
  writeFileSync(lock, String(spawnSync("true").pid));
  expect(run()).toMatchObject({ status: 0, stderr: expect.stringContaining("installing Node 24.") });
  expect(existsSync(lock)).toBe(false);
});
