import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { loadWorkflow } from "../src/engine/language/load.ts";

/** Who may import whom. `app.ts` and `app-….ts` may import everything; `fault.ts` may be imported by everybody. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  engine: [],
  ports: ["engine"],
  adapters: ["ports", "engine"],
  api: ["engine"],
  home: ["engine"],
  daemon: ["api", "ports", "home", "engine"],
  cli: ["api", "home", "engine"],
  tui: ["api"],
  web: ["api"],
  testing: ["ports", "engine", "adapters", "daemon", "home", "api"],
};
const packagesOfEngine = ["yaml"];

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file: file.replaceAll("\\", "/"), text: readFileSync(join(source, file), "utf8") }));

const isApp = (file: string) => /^app(-[\w-]+)?\.ts$/.test(file);

test("every folder imports only what it may", () => {
  const broken = files.flatMap(({ file, text }) => {
    const from = folderOf(file);
    return importsOf(text).flatMap((specifier) => {
      if (!specifier.startsWith("."))
        return from === "engine" && !packagesOfEngine.includes(specifier) ? [`${file} imports ${specifier}`] : [];
      const to = folderOf(relative(source, resolve(source, dirname(file), specifier)).replaceAll("\\", "/"));
      const isAllowed = from === to || isApp(from) || to === "fault.ts" || (mayImport[from]?.includes(to) ?? false);
      return isAllowed ? [] : [`${file} imports ${to}`];
    });
  });
  expect(broken).toEqual([]);
});

test("the engine is pure: no clock, no randomness, nothing asynchronous", () => {
  const broken = files
    .filter(({ file }) => folderOf(file) === "engine")
    .filter(({ text }) =>
      /\bDate\b|Math\.random|\bawait\b|\basync\b|\bprocess\.|setTimeout|performance\.now/.test(withoutComments(text)),
    )
    .map(({ file }) => file);
  expect(broken).toEqual([]);
});

test("no source file imports itself round a circle", () => {
  const graph = new Map(
    files.map(({ file, text }) => [
      file,
      importsOf(text)
        .filter((each) => each.startsWith("."))
        .map((each) => relative(source, resolve(source, dirname(file), each))),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, above: readonly string[]) => {
    if (above.includes(file)) return void circles.push([...above.slice(above.indexOf(file)), file].join(" → "));
    if (done.has(file)) return;
    for (const to of graph.get(file) ?? []) visit(to, [...above, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(circles).toEqual([]);
});

test("no source file names a state of a built-in workflow", () => {
  // The words agents' own states and the three outcomes share with state names are words of the language.
  const shared = ["done", "failed", "cancelled", "working", "ready", "idle", "stuck"];
  const folder = join(root, "workflows");
  const names = new Set(
    readdirSync(folder).flatMap((file) =>
      Object.keys(loadWorkflow(readFileSync(join(folder, file), "utf8"), file).workflow?.states ?? {}),
    ),
  );
  expect(names.size).toBeGreaterThan(40);
  for (const word of shared) names.delete(word);
  const broken = files
    .filter(({ file }) => file !== "engine/default-names.ts")
    .flatMap(({ file, text }) =>
      [...withoutComments(text).matchAll(/(["'`])([A-Za-z_-]+)\1/g)].flatMap(([, , word = ""]) =>
        names.has(word) ? [`${file}: ${word}`] : [],
      ),
    );
  expect(broken).toEqual([]);
});

test("files are named after what is inside, and stay small", () => {
  const vague = files.filter(({ file }) =>
    /(^|\/)(utils?|helpers?|common|misc|types|manager|service)s?\.tsx?$/.test(file),
  );
  const long = files.filter(({ text }) => text.split("\n").length > 400);
  expect([...vague, ...long].map(({ file }) => file)).toEqual([]);
});

function folderOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function importsOf(text: string): readonly string[] {
  const form =
    /^(?:import|export)\b[^"'`;]*\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
  return [...withoutComments(text).matchAll(form)].map(([, a, b, c]) => a ?? b ?? c ?? "");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}
