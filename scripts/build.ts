import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { buildPage, isPageCurrent } from "./page.ts";

// --must-have-page fails if the page for browsers cannot be built; --no-page leaves it out.
const { values: options, positionals } = parseArgs({
  options: { "must-have-page": { type: "boolean" }, "no-page": { type: "boolean" } },
  allowPositionals: true,
});
const root = join(import.meta.dirname, "..");
const place = resolve(root, positionals[0] ?? "dist");
mkdirSync(dirname(place), { recursive: true });
// A program that is started during the build finds the previous bundle complete.
const folder = mkdtempSync(`${place}-`);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  target: "node24",
  legalComments: "none",
  mainFields: ["module", "main"], // the CommonJS form of jsonc-parser loads its parts dynamically, which no bundler can follow
  define: { builtVersion: JSON.stringify(version) },
};
const shared: BuildOptions = {
  ...common,
  platform: "node",
  format: "cjs",
  // Otherwise Node would start its ES module loader for them.
  supported: { "dynamic-import": false },
  define: {
    ...common.define,
    "process.env.NODE_ENV": '"production"',
    "import.meta.dirname": "__dirname",
    "import.meta.filename": "__filename",
    "import.meta.main": "true",
  },
};

/** Minified, with helpers that set the original names when a program starts. */
const small: BuildOptions = { minify: true, keepNames: true };

/**
 * The parser of command lines distinguishes its errors by the names of their classes. Not minifying names makes the file
 * 30 % larger, and saves each command the 8 ms of CPU time that setting them takes.
 */
const named: BuildOptions = { minifySyntax: true, minifyWhitespace: true };

/** The full command line is a separate file beside the entry, loaded only if it is needed. */
const startBeside: Plugin = {
  name: "start-beside",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: "./start.cjs", external: true }));
  },
};

/** Each program is one CommonJS file: Node starts those fastest, and runs a module in it only when it is required. */
const programs: readonly (readonly [name: string, source: string])[] = [
  ["cli", "src/cli/main.ts"],
  ["start", "src/cli/start.ts"],
  ["app", "src/app.ts"],
  ["launcher", "src/adapters/tmux/launch.ts"],
  ["acp-bridge", "src/adapters/harness/acp/bridge.ts"],
  ["scripted-agent", "src/scripted-agent/main.ts"],
  ["gate", "src/adapters/sandbox/gate.ts"],
  ["verify-thread", "src/daemon/verify-thread.ts"],
  ["supervisor", "src/adapters/processes/supervisor.ts"],
];
for (const [name, source] of programs)
  await build({
    ...shared,
    ...(name === "start" ? named : small),
    entryPoints: [source],
    outfile: join(folder, `${name}.cjs`),
    plugins: name === "cli" ? [startBeside] : [],
  });
chmodSync(join(folder, "cli.cjs"), 0o755);

/** The library entries. The engine must run in every JavaScript environment: an import of a Node module in it fails the build. */
const entries: readonly (readonly [name: string, source: string, external: readonly string[]])[] = [
  ["engine", "src/engine/engine.ts", []],
  ["client", "src/client/client.ts", ["node:*"]],
];
for (const [name, source, external] of entries)
  await build({
    ...common,
    entryPoints: [source],
    outfile: join(folder, `${name}.js`),
    minify: false, // people read the stack traces of libraries
    platform: "neutral", // for Node there is `yaml` only as CommonJS, which cannot be part of an ES module
    format: "esm",
    external: [...external],
  });

const types = join(folder, "types");
const tsc = join(root, "node_modules", ".bin", "tsc");
execFileSync(tsc, ["--project", join(root, "tsconfig.library.json"), "--outDir", types], { stdio: "inherit" });
removeUnused(entries.map(([name]) => join(types, name, `${name}.d.ts`)));

/** Deletes declarations that the entries' types do not reach; the compiler writes them too. */
function removeUnused(from: readonly string[]): void {
  const used = new Set(from);
  for (const file of used)
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"([^"]+)"/g)) {
      if (!path.startsWith(".")) throw new Error(`${file} needs the types of "${path}"`);
      used.add(join(dirname(file), path.replace(/\.ts$/, ".d.ts")));
    }
  for (const file of globSync("**/*.d.ts", { cwd: types }).map((each) => join(types, each)))
    if (!used.has(file)) rmSync(file);
}

if (!options["no-page"]) await addPage();

/** The page is built only if one of its sources is newer. Without it everything but the page works. */
async function addPage(): Promise<void> {
  const web = join(folder, "web");
  const old = [join(place, "web"), join(root, "dist", "web")].find(isPageCurrent);
  try {
    if (old !== undefined) cpSync(old, web, { recursive: true, preserveTimestamps: true });
    else await buildPage(web, version);
  } catch (error) {
    if (options["must-have-page"]) throw error;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`The page for browsers could not be built: ${reason}\n`);
    rmSync(web, { recursive: true, force: true });
    // Setup does not try again until a source has changed.
    writeFileSync(join(folder, "page-problem.txt"), `${reason}\n`);
  }
}

chmodSync(folder, 0o755);
rmSync(place, { recursive: true, force: true });
renameSync(folder, place);
