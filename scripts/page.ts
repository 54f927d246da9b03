import { existsSync, globSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import type { Route } from "../src/api/client.ts";
import { routes } from "../src/api/routes.ts";

const root = join(import.meta.dirname, "..");
const source = join(root, "src/web");

/** What the page is made of: its own sources, what it imports, and the versions of its libraries. */
const inputs = ["src/web/**", "src/api/**", "src/*.ts", "scripts/page.ts", "package-lock.json"];

/** Whether the page in the folder is newer than everything that it is made of. */
export function isPageCurrent(folder: string): boolean {
  const index = join(folder, "index.html");
  if (!existsSync(index)) return false;
  const built = statSync(index).mtimeMs;
  return globSync(inputs, { cwd: root }).every((file) => statSync(join(root, file)).mtimeMs <= built);
}

/** Builds the page for browsers, or another one of the same libraries, into the folder: `index.html` and `assets/`. */
export async function buildPage(folder: string, version: string, from = source): Promise<void> {
  // The page's libraries are loaded only here: a checkout that cannot load them still has its programs.
  const [{ build }, { default: react }, { default: tailwind }] = await Promise.all([
    import("vite"),
    import("@vitejs/plugin-react"),
    import("@tailwindcss/vite"),
  ]);
  const unfinished = `${folder}.new`;
  // It chooses the libraries' variants; in tests it is another.
  process.env.NODE_ENV = "production";
  await build({
    configFile: false,
    mode: "production",
    root: from,
    base: "/",
    logLevel: "warn",
    plugins: [bareRoutes, react(), tailwind()],
    define: { builtVersion: JSON.stringify(version) },
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      target: "es2023",
      // The content security policy allows no data: addresses and no inline scripts.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        // What screens share would otherwise be many small files: together they are smaller, and take fewer requests.
        output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } },
      },
    },
    worker: { format: "es" },
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

/**
 * In the page a route is its name, method and path. Its schemas, which only the daemon checks, would double the page's own code.
 */
const bareRoutes: Plugin = {
  name: "bare-routes",
  enforce: "pre",
  load(id) {
    if (id !== join(root, "src/api/routes.ts")) return undefined;
    const bare = Object.entries<Route>(routes).map(([name, route]) => [name, bareRoute(route)]);
    return `export const routes = ${JSON.stringify(Object.fromEntries(bare))};`;
  },
};

function bareRoute({ name, method, path, isIdempotent }: Route): object {
  return { name, method, path, isIdempotent };
}
