// Makes a checkout runnable: installs Node 24 if the system's is older, the locked dependencies and system programs, and
// builds the bundle.
// Plain JavaScript, no imports outside node: — it runs before anything is installed, on whatever Node there is (>= 18).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0";
/** System programs, by the names of their packages. */
const PROGRAMS = [
  { name: "tmux", debian: "tmux", brew: "tmux", purpose: "agents' sessions run in it" },
  // Only Linux has it. Where it is missing, agents run without a sandbox.
  ...(process.platform === "linux"
    ? [{ name: "bwrap", debian: "bubblewrap", purpose: "agents' sandboxes are made with it" }]
    : []),
  // Only tests need a browser.
  ...(process.argv[2] === "--test"
    ? [{ name: "chromium", debian: "chromium", brew: "chromium", purpose: "the page is tested in it" }]
    : []),
];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolDir = join(root, ".node"); // outside node_modules: npm ci empties that
const packaged = join(toolDir, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
const linked = join(root, "node_modules", ".bin", "node");
const own = Number(process.versions.node.split(".")[0]) >= 24 && process.execPath !== packaged;

if (process.argv[2] === "--prepare") prepare();
else if (!isCurrent() || missing().length > 0 || !isBuilt()) {
  alone(() => {
    if (!isCurrent()) install();
    installPrograms(missing());
    if (!isBuilt()) build();
  });
} else if (!own && !existsSync(linked)) link();

/** One setup at a time per checkout: a second one waits, and takes over if the first died. */
function alone(work) {
  const file = join(root, ".setup-lock");
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = Number(readText(file));
    if (owner && !isAlive(owner)) rmSync(file, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  process.on("exit", () => rmSync(file, { force: true }));
  work();
}
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
function readText(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Compares the lock file with npm's record of what is installed: correct also after a plain `npm ci`, and cheap. */
function isCurrent() {
  const installed = parse(join(root, "node_modules", ".package-lock.json"))?.packages;
  if (!installed || (!own && versionOf(packaged) !== `v${NODE}`)) return false;
  const wanted = Object.entries(parse(join(root, "package-lock.json")).packages);
  return wanted.every(
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

function link() {
  if (own || !existsSync(packaged)) return;
  rmSync(linked, { force: true });
  mkdirSync(dirname(linked), { recursive: true });
  symlinkSync(packaged, linked);
}

/**
 * After `npm install` or `npm ci`: Node, the link to it and the bundle. npm has installed the dependencies; a setup that
 * runs npm has installed Node before, and holds the lock.
 */
function prepare() {
  if (!own && versionOf(packaged) !== `v${NODE}`) alone(installNode);
  link();
  if ((own || existsSync(linked)) && !isBuilt()) build();
}

function installNode() {
  if (own || versionOf(packaged) === `v${NODE}`) return true;
  say(`Node ${process.versions.node} is older than 24: installing Node ${NODE} into .node/`);
  mkdirSync(toolDir, { recursive: true });
  writeFileSync(join(toolDir, "package.json"), '{"private":true}\n');
  const name = `node-${process.platform}-${process.arch}@${NODE}`;
  if (npm(process.execPath, toolDir, ["install", "--no-save", "--no-package-lock", name])) return true;
  say("Signalbox needs Node 24. Install it from https://nodejs.org, or try again: npm run setup");
  return false;
}

function install() {
  if (!installNode()) process.exit(1);
  const node = existsSync(packaged) && !own ? packaged : process.execPath;
  say("installing the locked dependencies");
  if (!npm(node, root, ["ci"])) process.exit(1);
  link();
}

/** Whether the bundle and the page are newer than their sources; `bin/signalbox` checks the same of the bundle. */
function isBuilt() {
  const [src, web] = [join(root, "src"), join(root, "src", "web")];
  const page = ["web/index.html", "page-problem.txt"].map((name) => join(root, "dist", name)).find(existsSync);
  return (
    isNewest(join(root, "dist", "cli.cjs"), [src, "-path", web, "-prune", "-o"]) &&
    page !== undefined &&
    isNewest(page, [web, join(src, "api"), join(root, "package-lock.json")])
  );
}
function isNewest(file, where) {
  if (!existsSync(file)) return false;
  const { status, stdout } = spawnSync("find", [...where, "-newer", file, "-print", "-quit"]);
  return status === 0 && stdout.length === 0;
}
/** Without the bundle everything runs from the sources, with a slower start. */
function build() {
  const node = existsSync(linked) ? linked : process.execPath;
  const { status } = spawnSync(node, [join(root, "scripts", "build.ts")], { stdio: ["ignore", 2, 2] });
  if (status !== 0) say("the bundle could not be built; the sources are used instead");
}

function missing() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return PROGRAMS.filter(({ name }) => !folders.some((folder) => existsSync(join(folder, name))));
}

/** Optional: a command that needs a missing program says so. Setup continues after a failure here. */
function installPrograms(programs) {
  if (programs.length === 0) return;
  const names = programs.map(({ name }) => name).join(", ");
  const isDebian = existsSync("/usr/bin/apt-get");
  if (isDebian && process.getuid?.() === 0) {
    say(`installing ${names} with apt-get`);
    apt(["update"]);
    apt(["install", "--yes", "--no-install-recommends", ...programs.map(({ debian }) => debian)]);
  }
  for (const { name, debian, brew, purpose } of missing()) {
    const command = process.platform === "darwin" ? `brew install ${brew}` : `apt-get install ${debian}`;
    const how = isDebian || process.platform === "darwin" ? `"${command}"` : "the package manager of your system";
    say(`${name} is missing (${purpose}). Install it with ${how}; everything else goes on without it.`);
  }
}
function apt(args) {
  const { status, error } = spawnSync("apt-get", ["-q", "-o", "DPkg::Lock::Timeout=60", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", 2, 2],
    timeout: 5 * 60_000,
  });
  if (error ?? status !== 0) say(`apt-get ${args[0]} failed (${error?.message ?? `exit ${status}`})`);
}

/** Runs npm itself under `node`, so that engine checks and lifecycle scripts see that version. False if it fails. */
function npm(node, cwd, args) {
  const cli = process.env.npm_execpath?.endsWith("npm-cli.js") ? [node, [process.env.npm_execpath]] : ["npm", []];
  const env = { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH, npm_config_loglevel: "error" };
  delete env.npm_config_local_prefix;
  delete env.npm_config_prefix;
  const { status, error } = spawnSync(cli[0], [...cli[1], ...args, "--no-audit", "--no-fund"], {
    cwd,
    env,
    stdio: ["ignore", 2, 2],
  });
  if (!error && status === 0) return true;
  say(`npm ${args[0]} failed (${error?.message ?? `exit ${status}`})`);
  return false;
}
function versionOf(node) {
  const version = parse(join(dirname(dirname(node)), "package.json"))?.version;
  return version && existsSync(node) ? `v${version}` : undefined;
}
function parse(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}
