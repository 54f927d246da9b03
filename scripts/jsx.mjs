// Loads .tsx files when the sources are run directly: Node strips types but does not know JSX. Development only.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(".tsx")) return next(url, context);
    const { transformSync } = process.getBuiltinModule("node:module").createRequire(import.meta.url)("esbuild");
    const { code } = transformSync(readFileSync(fileURLToPath(url), "utf8"), {
      loader: "tsx",
      jsx: "automatic",
      format: "esm",
      sourcemap: "inline",
    });
    return { format: "module", source: code, shortCircuit: true };
  },
});
