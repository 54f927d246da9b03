import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { run } from "@stricli/core";
import { describe, expect, test } from "vitest";
import { withHarnessTable } from "../scripts/harness-table.ts";
import { pausedWire } from "../src/api/agents.ts";
import { routes } from "../src/api/routes.ts";
import { explanationWire, taskWire } from "../src/api/tasks.ts";
import { createContext } from "../src/cli/context.ts";
import { createApp } from "../src/cli/start.ts";
import { actions, aliases } from "../src/engine/actions.ts";
import { type EventDescription, eventTypes } from "../src/engine/event-types.ts";
import { loadWorkflow } from "../src/engine/language/load.ts";
import { formatProblem } from "../src/engine/language/problem.ts";
import { builtInVariables } from "../src/engine/language/read-settings.ts";
import { jsonSchema } from "../src/engine/language/shape.ts";
import { factNames } from "../src/engine/request.ts";
import { verify } from "../src/engine/verify/verify.ts";
import { documents, fenced, read, root } from "./documents.ts";
import { wrongFiles } from "./wrong-files.ts";

const language = read("docs/workflow-language.md");

describe("every document", () => {
  test.each(documents)("$file has only links that lead somewhere", ({ file, text }) => {
    const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => !/^https?:/.test(link) && !resolves(file, link));
    expect(broken).toEqual([]);
  });

  const blocks = documents.flatMap(({ file, text }) => fenced(text, "yaml").map((block) => ({ file, block })));
  const whole = blocks.filter(({ block }) => /^states:/m.test(block));
  test("has at least three whole workflows between them", () => expect(whole.length).toBeGreaterThanOrEqual(3));
  test.each(whole)("$file has workflows that load", ({ file, block }) => {
    expect(loadWorkflow(block, file).problems.map(formatProblem)).toEqual([]);
  });
});

describe("the reference of the language", () => {
  test("has a row for every action, equal to its declaration", () => {
    const expected = Object.values(actions).map((action) => {
      const params = Object.entries(action.params).map(
        ([name, { type, oneOf, required }]) =>
          `\`${name}\` ${oneOf?.join("\\|") ?? type}${required ? ", required" : ""}`,
      );
      const words = Object.entries(action.words).map(
        ([word, kind]) => `\`${word}\`${{ answer: "", temporary: " (temporary)", person: " (for a person)" }[kind]}`,
      );
      const cells = [
        `\`${action.name}\``,
        action.summary,
        params.join("; ") || "–",
        words.join(", ") || "–",
        action.holds ? "yes" : "no",
      ];
      return `| ${cells.join(" | ")} |`;
    });
    expect(tableUnder("| action | what it does |")).toEqual(expected);
  });

  test("has a row for every further name of an action", () => {
    const expected = Object.entries(aliases).map(([name, { action, params }]) => {
      const given = Object.entries(params).map(([key, value]) => `\`${key}: ${value}\``);
      return `| \`${name}\` | \`${action}\` with ${given.join(", ")} |`;
    });
    expect(tableUnder("| name | stands for |")).toEqual(expected);
  });

  test("has a row for every built-in variable", () => {
    const expected = Object.entries(builtInVariables).map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`);
    expect(tableUnder("| variable | value |")).toEqual(expected);
  });

  test("has a row for every finding", () => {
    const rows = tableUnder("| code | level |").map(cellsOf);
    expect(rows.map(([code]) => unquoted(code)).sort()).toEqual(unionIn("src/engine/verify/finding.ts", "FindingCode"));
    expect(rows.filter(([, level = ""]) => !/^(error|warning|note)\b/.test(level))).toEqual([]);
  });

  test("has a row for every reason of a refusal", () => {
    const codes = tableUnder("| code | meaning |").map((row) => unquoted(cellsOf(row)[0]));
    expect(codes.sort()).toEqual(unionIn("src/engine/decision.ts", "ReasonCode"));
  });

  test("names every fact that a guard may ask for", () => {
    const fields = tableUnder("| field | is |").flatMap((row) =>
      [...(cellsOf(row)[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(fields.filter((name) => name !== "visits" && name !== "crash_count")).toEqual([...factNames]);
  });

  test("names every key of the language", () => {
    const keys = [...JSON.stringify(jsonSchema()).matchAll(/"(\w+)":\{"description"/g)].map(([, key = ""]) => key);
    expect(keys.length).toBeGreaterThan(60);
    const words = new Set([...language.matchAll(/`[^`\n]+`/g)].flatMap(([span]) => span.split(/[^\w]+/)));
    expect(keys.filter((key) => !words.has(key))).toEqual([]);
  });

  test("shows every check of the loader with the loader's message", () => {
    const rows = tableUnder("| # | checked |").map(cellsOf);
    const expected = wrongFiles.map((text, i) => {
      const wrong = unquoted(rows[i]?.[2]);
      const said = loadWorkflow(text, "wrong.yml").problems.map(({ message, fix }) => `${message} ${fix}`.trim());
      return [String(i + 1), text.includes(wrong) ? wrong : `${wrong} is not in ${text}`, said.join("\n")];
    });
    expect(rows.map(([number, , wrong, message]) => [number, unquoted(wrong), unquoted(message)])).toEqual(expected);
  });

  test("shows a problem as the loader prints it", () => {
    const [example = ""] = fenced(language, "yaml");
    const [problem] = loadWorkflow(example.replace("kill_session", "kill_sesion"), "mine.yml").problems;
    expect(fenced(language, "text")).toContain(`${problem && formatProblem(problem)}\n`);
  });

  test("has an example that verify proves with only notes", () => {
    const { workflow } = loadWorkflow(fenced(language, "yaml")[0] ?? "", "mine.yml");
    expect(workflow && verify(workflow).findings.filter(({ level }) => level !== "note")).toEqual([]);
  });

  test("has a checklist with the names of the behaviour tests", () => {
    const list = language.slice(language.indexOf("## Behaviour checklist"));
    const sentences = [...list.matchAll(/^- (.+(?:\n {2}.+)*)/gm)].map(([, sentence = ""]) =>
      sentence.replace(/\n {2}/g, " "),
    );
    const tests = [...read("test/language/behaviour.test.ts").matchAll(/^test\("((?:[^"\\]|\\.)+)"/gm)].map(
      ([, name = ""]) => name,
    );
    expect(tests.length).toBeGreaterThan(50);
    expect(sentences).toEqual(tests);
  });
});

describe("the reference of the command line", async () => {
  const cli = read("docs/cli.md");
  const helps = await everyHelp("signalbox");
  const sections = new Map(cli.split(/^## /m).map((section) => [section.slice(0, section.indexOf("\n")), section]));

  test("has a section for every command", () => {
    const documented = [...sections.keys()].filter((title) => /^signalbox\b/.test(title));
    expect(helps.length).toBeGreaterThan(10);
    expect(documented.sort()).toEqual(helps.map(({ command }) => command).sort());
  });

  test.each(helps)("has every argument and flag of $command as its help shows them", ({ command, help }) => {
    // Flags that every command has are documented once.
    const rows = rowsOf(help).filter(([name]) => command === "signalbox" || name !== "-h, --help");
    const expected = rows.map(([name, brief]) => `| \`${name.replaceAll("|", "\\|")}\` | ${brief} |`);
    expect(sections.get(command)?.match(/^\| `.*$/gm) ?? []).toEqual(expected);
  });

  test.each(helps)("says what $command prints as JSON and how it can end, as its help does", ({ command, help }) => {
    const text = oneLine(sections.get(command) ?? "");
    const forms = [...help.matchAll(/^(?:--json|with --follow): ([\s\S]+?\})(?=\.|$)/gm)].map(([, form = ""]) => form);
    const said = [...forms, ...(/^Exit codes: .*$/m.exec(command === "signalbox" ? "" : help) ?? [])];
    expect(said.map(oneLine).filter((each) => !text.includes(each))).toEqual([]);
  });

  test.each([
    ["task show", taskWire],
    ["task explain", explanationWire],
    ["salvage list", routes.listSalvage.answer],
    ["pause", pausedWire],
    ["resume", pausedWire],
    ["status", routes.status.answer],
  ])("names every key that %s prints as JSON", (command, { schema }) => {
    const forms = [...(sections.get(`signalbox ${command}`) ?? "").matchAll(/^```text\n(\{[\s\S]*?)```/gm)].join("\n");
    expect(keysOf(schema).filter((key) => !new RegExp(`\\b${key}\\b`).test(forms))).toEqual([]);
  });

  test("names every variable of the environment that the sources name", () => {
    const sources = readdirSync(join(root, "src/cli"), { recursive: true, encoding: "utf8" });
    const texts = sources.filter((file) => file.endsWith(".ts")).map((file) => read(`src/cli/${file}`));
    const names = new Set(texts.flatMap((text) => text.match(/\b(?:SIGNALBOX_[A-Z]+|NO_COLOR)\b/g) ?? []));
    expect(names.size).toBeGreaterThan(2);
    expect([...names].filter((name) => !cli.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

test("the table of events has a row for every event, equal to its description", () => {
  const expected = Object.entries<EventDescription>(eventTypes).map(([type, { when, data }]) => {
    const fields = Object.entries(data).map(([name, meaning]) => `\`${name}\` ${meaning}`);
    return `| \`${type}\` | ${when} | ${fields.join("; ") || "–"} |`;
  });
  const [, ...rows] = read("docs/events.md").slice(read("docs/events.md").indexOf("| type |")).trim().split("\n");
  expect(rows.slice(1)).toEqual(expected);
});

test("the table of harnesses says what the adapters say", () => {
  const document = read("docs/harnesses.md");
  expect(document).toContain("| `claude` |");
  expect(document).toBe(withHarnessTable(document));
});

test("the diagram in the README shows every way of the default workflow except cancelling", () => {
  const [picture = ""] = fenced(read("README.md"), "mermaid");
  const drawn = [...picture.matchAll(/^ *(\w+) --> (\w+) :/gm)].map(([, from, to]) =>
    `${from} ${to}`.replaceAll("_", "-"),
  );
  const { workflow } = loadWorkflow(read("workflows/default.yml"), "default.yml");
  const ways = (workflow?.ways ?? []).filter(({ to }) => workflow?.states[to]?.outcome !== "cancelled");
  expect([...new Set(drawn)].sort()).toEqual([...new Set(ways.map(({ from, to }) => `${from} ${to}`))].sort());
});

test("ARCHITECTURE, CONTRIBUTING and AGENTS stay short", () => {
  const lines = ["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "CLAUDE.md"].map(
    (file) => read(file).split("\n").length - 1,
  );
  expect(lines.map((count, i) => count <= ([180, 130, 60, 1][i] ?? 0))).toEqual([true, true, true, true]);
});

describe("every file that a document names exists", () => {
  const files = ["src", "test", "scripts", "bench", "schema", "workflows", "docs"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const placeholders = /my-flow|<name>|…/;

  test.each(documents)("$file", ({ text }) => {
    const paths = [...text.matchAll(/(?<![\w./-])(?:src|test|scripts|schema|workflows|bench)\/[\w<>./…-]*\w\.\w+/g)];
    const missing = paths.map(([path]) => path).filter((path) => !existsSync(join(root, path)));
    // A name alone, or the end of a path, as in "look at `submit.ts`".
    const names = [...text.matchAll(/(?<![\w<>./…-])[\w<>-][\w<>/-]*(?:\.\w+)*\.(?:ts|mjs)\b/g)];
    const unknown = names
      .map(([name]) => name)
      .filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)));
    expect([...missing, ...unknown].filter((name) => !placeholders.test(name))).toEqual([]);
  });
});

interface Help {
  readonly command: string;
  readonly help: string;
}

/** The help of a command and of all its subcommands. */
async function everyHelp(command: string): Promise<readonly Help[]> {
  const written: string[] = [];
  const stdout = { write: (text: string) => written.push(text) };
  const plain = { stdout, stderr: stdout, env: {} } as unknown as NodeJS.Process;
  // Wide enough that no line is wrapped.
  const context = { ...createContext(plain), columns: 10_000 };
  await run(createApp(context), [...command.split(" ").slice(1), "--help"], context);
  const help = written.join("");
  const below = rowsOf(help, "Commands").map(([name]) => everyHelp(`${command} ${name}`));
  return [{ command, help }, ...(await Promise.all(below)).flat()];
}

/** The rows of a help's tables: a name and its description. */
function rowsOf(help: string, titles = "Commands|Arguments|Flags"): readonly (readonly [string, string])[] {
  const tables = [...help.matchAll(new RegExp(`^(?:${titles}):\\n((?: {2}.*\\n?)+)`, "gm"))];
  return tables.flatMap(([, table = ""]) =>
    [...table.matchAll(/^ {2}(\S+(?: \S+)*) {2,}(.+)$/gm)].map(([, name = "", brief = ""]) => [name, brief] as const),
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function withoutCode(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```$/gm, "").replace(/`[^`\n]*`/g, "");
}

function resolves(file: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : relative(root, resolve(root, dirname(file), path));
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** As GitHub generates them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** The rows of the table whose head begins with this text, without the blanks that align its columns. */
function tableUnder(head: string): readonly string[] {
  const lines = language.split("\n").map((line) => (line.startsWith("|") ? line.replace(/ +/g, " ") : line));
  const start = lines.findIndex((line) => line.startsWith(head)) + 2;
  const end = lines.findIndex((line, i) => i >= start && !line.startsWith("|"));
  return start < 2 ? [] : lines.slice(start, end);
}

function cellsOf(row: string): readonly string[] {
  return row
    .slice(2, -2)
    .split(/(?<!\\) \| /)
    .map((cell) => cell.trim());
}

function unquoted(cell = ""): string {
  return cell.replace(/^`|`$/g, "");
}

/** The members of a string union, read from the source: types do not exist at run time. */
function unionIn(file: string, name: string): readonly string[] {
  const [, body = ""] = new RegExp(`type ${name} =([^;]+);`).exec(read(file)) ?? [];
  return [...body.matchAll(/"([\w-]+)"/g)].map(([, member = ""]) => member).sort();
}

/** Every key of a wire schema, except those of a nested task, which `task show` documents. */
function keysOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  if (typeof schema !== "object" || schema === null) return [];
  const { properties, items, anyOf } = schema as { properties?: object; items?: unknown; anyOf?: unknown };
  const own = Object.entries(properties ?? {}).flatMap(([key, value]) => [
    key,
    ...(key === "task" ? [] : keysOf(value)),
  ]);
  return [...own, ...keysOf(items), ...keysOf(anyOf)];
}
