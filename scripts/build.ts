import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");
const place = resolve(root, process.argv[2] ?? "dist");
// Chunks carry a hash in their names: those of an earlier build would stay, and be packed. And whoever starts a program
// meanwhile finds the earlier one whole.
const folder = mkdtempSync(`${place}-`);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const versionDefine = { builtVersion: JSON.stringify(version) };
const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node24",
  minify: true,
  keepNames: true, // the parser of command lines tells its errors apart by the names of their classes
  legalComments: "none",
};

await build({
  ...shared,
  entryPoints: {
    start: "src/cli/start.ts",
    app: "src/app.ts",
    launcher: "src/adapters/terminal/tmux/launch.ts",
    "acp-bridge": "src/adapters/harness/acp/bridge.ts",
    "scripted-agent": "src/testing/scripted-agent.ts",
  },
  outdir: folder,
  format: "esm",
  splitting: true, // one chunk per command: one file for all starts three times slower
  chunkNames: "chunk/[name]-[hash]",
  define: { ...versionDefine, "process.env.NODE_ENV": '"production"' },
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});

/** The command line proper is loaded from beside the entry, and only where it is needed. */
const startBeside: Plugin = {
  name: "start-beside",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: "./start.js", external: true }));
  },
};

await build({
  ...shared,
  entryPoints: ["src/cli/main.ts"],
  outfile: join(folder, "cli.cjs"),
  format: "cjs",
  plugins: [startBeside],
  define: { ...versionDefine, "import.meta.dirname": "__dirname", "import.meta.filename": "__filename" },
});
chmodSync(join(folder, "cli.cjs"), 0o755);

// There is one for each run, so it is as small as can be, in one file.
await build({
  ...shared,
  entryPoints: ["src/adapters/processes/supervisor.ts"],
  outfile: join(folder, "supervisor.cjs"),
  format: "cjs",
});

chmodSync(folder, 0o755);
rmSync(place, { recursive: true, force: true });
renameSync(folder, place);
