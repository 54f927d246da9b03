import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");
const place = resolve(root, process.argv[2] ?? "dist");
// Whoever starts a program meanwhile finds the earlier one whole.
const folder = mkdtempSync(`${place}-`);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node24",
  minify: true,
  keepNames: true, // the parser of command lines tells its errors apart by the names of their classes
  legalComments: "none",
  format: "cjs",
  // Otherwise Node's loader of modules would be started for them.
  supported: { "dynamic-import": false },
  define: {
    builtVersion: JSON.stringify(version),
    "process.env.NODE_ENV": '"production"',
    "import.meta.dirname": "__dirname",
    "import.meta.filename": "__filename",
    "import.meta.main": "true",
  },
};

/** The command line proper is loaded from beside the entry, and only where it is needed. */
const startBeside: Plugin = {
  name: "start-beside",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: "./start.cjs", external: true }));
  },
};

/** Each in one CommonJS file: Node starts those soonest, and a module in it runs only once somebody asks for it. */
const programs: readonly (readonly [name: string, source: string])[] = [
  ["cli", "src/cli/main.ts"],
  ["start", "src/cli/start.ts"],
  ["app", "src/app.ts"],
  ["launcher", "src/adapters/terminal/tmux/launch.ts"],
  ["acp-bridge", "src/adapters/harness/acp/bridge.ts"],
  ["scripted-agent", "src/testing/scripted-agent.ts"],
  ["supervisor", "src/adapters/processes/supervisor.ts"],
];
for (const [name, source] of programs)
  await build({
    ...shared,
    entryPoints: [source],
    outfile: join(folder, `${name}.cjs`),
    plugins: name === "cli" ? [startBeside] : [],
  });
chmodSync(join(folder, "cli.cjs"), 0o755);

chmodSync(folder, 0o755);
rmSync(place, { recursive: true, force: true });
renameSync(folder, place);
