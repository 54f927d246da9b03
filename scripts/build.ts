import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
// Chunks carry a hash in their names: those of an earlier build would stay, and be packed.
rmSync(join(root, "dist"), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { cli: "src/cli/main.ts" },
  outdir: "dist",
  splitting: true, // a tiny entry and one chunk per command: one file starts three times slower
  chunkNames: "chunk/[name]-[hash]",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  minify: true,
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
chmodSync(join(root, "dist", "cli.js"), 0o755);
