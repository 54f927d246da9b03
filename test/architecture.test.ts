import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { loadWorkflow } from "../src/engine/language/load.ts";
import { cliFile } from "./programs.ts";

/** Which top folders each top folder may import, types included. `app.ts` and `app-….ts` may import everything. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  documents: [],
  answers: [],
  "project-tests": [],
  tickets: ["documents"],
  engine: ["documents", "answers", "tickets", "project-tests"],
  ports: ["engine", "tickets", "documents"],
  adapters: ["ports", "engine", "documents", "answers", "tickets", "project-tests"],
  api: ["engine"],
  home: ["engine", "project-tests"],
  client: ["api", "home", "engine"],
  daemon: ["api", "ports", "home", "engine", "documents", "answers", "tickets", "project-tests"],
  web: ["api"],
  // The terminal dashboard sees only what the daemon tells everybody.
  tui: ["api"],
  cli: ["tui", "api", "home", "engine", "documents", "tickets", "project-tests"],
  "scripted-agent": ["ports", "engine", "documents", "answers"],
};
/** Files at the top of src that every folder may import. They import each other only. */
const leaves = [
  "fault.ts",
  "durable-file.ts",
  "find-program.ts",
  "git-folder.ts",
  "hidden-characters.ts",
  "json.ts",
  "keyed.ts",
  "readable-text.ts",
  "sha256.ts",
  "shell-quote.ts",
  "text.ts",
];
/** Pure folders: no clock, no randomness, nothing asynchronous, no packages except these, which are pure too. */
const pure: Readonly<Record<string, readonly string[]>> = {
  engine: ["yaml"],
  documents: ["yaml"],
  answers: [],
  tickets: ["yaml"],
  "project-tests": ["smol-toml", "jsonc-parser"],
};
/** Folders whose subfolders must not import each other in a cycle. */
const parents = ["", "daemon", "adapters", "adapters/git", "adapters/harness", "engine", "cli", "web"];

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file: file.replaceAll("\\", "/"), text: readFileSync(join(source, file), "utf8") }));

const isApp = (file: string) => /^app(-[\w-]+)?\.ts$/.test(file);

test("every folder imports only what it may", () => {
  const broken = files.flatMap(({ file, text }) => {
    const from = topOf(file);
    return importsOf(text).flatMap(({ specifier }) => {
      if (!specifier.startsWith(".")) return [];
      const to = topOf(targetOf(file, specifier));
      if (leaves.includes(from) && !leaves.includes(to)) return [`${file} imports ${to}`];
      const isAllowed = from === to || isApp(from) || leaves.includes(to) || (mayImport[from]?.includes(to) ?? false);
      return isAllowed ? [] : [`${file} imports ${to}`];
    });
  });
  expect(broken).toEqual([]);
});

test("nothing but the table of handlers imports a request handler", () => {
  const broken = files
    .filter(({ file }) => file !== "daemon/handlers.ts" && !file.startsWith("daemon/requests/"))
    .filter(({ file, text }) =>
      importsOf(text).some(({ specifier }) => targetOf(file, specifier).startsWith("daemon/requests/")),
    );
  expect(broken.map(({ file }) => file)).toEqual([]);
});

test("test-only code is not in src: no file of src imports from outside of it", () => {
  const broken = files.filter(({ file, text }) =>
    importsOf(text).some(({ specifier }) => specifier.startsWith(".") && targetOf(file, specifier).startsWith("..")),
  );
  expect(broken.map(({ file }) => file)).toEqual([]);
});

test.each(Object.entries(pure))(
  "%s is pure: no clock, no randomness, nothing asynchronous, no package but %j",
  (folder, allowed) => {
    const own = files.filter(({ file }) => topOf(file) === folder);
    expect(own.length).toBeGreaterThan(0);
    const impure = own.filter(({ text }) =>
      /\bDate\b|Math\.random|\bawait\b|\basync\b|\bprocess\.|setTimeout|performance\.now/.test(withoutComments(text)),
    );
    const packages = own.flatMap(({ file, text }) =>
      importsOf(text).flatMap(({ specifier }) =>
        specifier.startsWith(".") || allowed.includes(specifier) ? [] : [`${file} imports ${specifier}`],
      ),
    );
    expect([...impure.map(({ file }) => file), ...packages]).toEqual([]);
  },
);

test("no file is part of an import cycle; type-only imports do not count", () => {
  const graph = new Map<string, Set<string>>();
  for (const { file, text } of files) {
    const values = importsOf(text).filter(({ specifier, isType }) => specifier.startsWith(".") && !isType);
    graph.set(file, new Set(values.map(({ specifier }) => targetOf(file, specifier))));
  }
  expect(circlesIn(graph)).toEqual([]);
});

test.each(parents)("the folders in src/%s do not import each other in a cycle", (parent) => {
  const folderOf = (file: string) => {
    const inside = parent === "" ? file : file.startsWith(`${parent}/`) ? file.slice(parent.length + 1) : "";
    return inside.includes("/") ? inside.split("/")[0] : undefined;
  };
  const graph = new Map<string, Set<string>>();
  for (const { file, text } of files) {
    const from = folderOf(file);
    if (from === undefined) continue;
    const to = graph.get(from) ?? new Set();
    for (const { specifier, isType } of importsOf(text)) {
      const target = specifier.startsWith(".") && !isType ? folderOf(targetOf(file, specifier)) : undefined;
      if (target !== undefined && target !== from) to.add(target);
    }
    graph.set(from, to);
  }
  expect(circlesIn(graph)).toEqual([]);
});

test("the program that agents call is small, and loads five modules of Node before it asks the daemon", () => {
  const text = readFileSync(cliFile, "utf8");
  const modules = new Set([...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name));
  // node:crypto alone would cost each call 5 ms. The rest of the command line begins in start.cjs.
  expect([...modules].sort()).toEqual(["./start.cjs", "node:fs", "node:module", "node:net", "node:os", "node:path"]);
  expect(text.length).toBeLessThan(18_000);
});

test("no source file names a state of a built-in workflow", () => {
  // States of agents, groups of tasks and the three outcomes are words of the language, even if a state has the same name.
  const shared = ["done", "failed", "cancelled", "working", "ready", "idle", "stuck", "queued"];
  const folder = join(root, "workflows");
  const names = new Set(
    readdirSync(folder).flatMap((file) =>
      Object.keys(loadWorkflow(readFileSync(join(folder, file), "utf8"), file).workflow?.states ?? {}),
    ),
  );
  expect(names.size).toBeGreaterThan(40);
  for (const word of shared) names.delete(word);
  const broken = files
    .filter(({ file }) => file !== "engine/run-spec.ts")
    .flatMap(({ file, text }) =>
      [...withoutComments(text).matchAll(/(["'`])([A-Za-z_-]+)\1/g)].flatMap(([, , word = ""]) =>
        names.has(word) ? [`${file}: ${word}`] : [],
      ),
    );
  expect(broken).toEqual([]);
});

test("no file has more than 400 lines or a catch-all name", () => {
  const vague = files.filter(({ file }) =>
    /(^|\/)(utils?|helpers?|common|misc|types|manager|service)s?\.tsx?$/.test(file),
  );
  const long = files.filter(({ text }) => text.split("\n").length > 401);
  expect([...vague, ...long].map(({ file }) => file)).toEqual([]);
});

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

function importsOf(text: string): readonly Import[] {
  const form =
    /^(?:import|export)\b([^"'`;]*)\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
  return [...withoutComments(text).matchAll(form)].map(([, names = "", a, b, c]) => ({
    specifier: a ?? b ?? c ?? "",
    isType: a !== undefined && bringsTypesOnly(names),
  }));
}

function bringsTypesOnly(names: string): boolean {
  if (/^\s*type\b/.test(names)) return true;
  const [, inside] = /^\s*\{([^}]*)\}\s*$/.exec(names) ?? [];
  return inside?.split(",").every((each) => each.trim() === "" || /^type\s/.test(each.trim())) ?? false;
}

function circlesIn(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, above: readonly string[]) => {
    if (above.includes(node)) return void circles.push([...above.slice(above.indexOf(node)), node].join(" → "));
    if (done.has(node)) return;
    for (const to of graph.get(node) ?? []) visit(to, [...above, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

function targetOf(file: string, specifier: string): string {
  return relative(source, resolve(source, dirname(file), specifier)).replaceAll("\\", "/");
}

function topOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}
