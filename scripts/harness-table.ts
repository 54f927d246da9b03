import { createHarnesses } from "../src/app-harnesses.ts";
import { homePlaces } from "../src/home/places.ts";
import type { Capabilities, Harness } from "../src/ports/harness.ts";

const [begin, end] = ["<!-- table: npm run docs:harnesses -->", "<!-- end of table -->"];

/** The document with a new table of the harnesses' features between its markers. */
export function withHarnessTable(document: string): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error("The document has no place for the table.");
  return `${document.slice(0, from)}${begin}\n\n${harnessTable()}\n\n${document.slice(to)}`;
}

function harnessTable(): string {
  const acp = { title: "over ACP", acp: ["agent"] };
  const made = createHarnesses({ env: {}, places: homePlaces("/"), defined: () => ({ acp }), allowed: () => [] });
  // User-defined harnesses come first there, and last here.
  const all = [...made().values()].sort((a, b) => Number(a.name === "acp") - Number(b.name === "acp"));
  const heads = all.map(({ name, title }) => (name === "acp" ? title : `\`${name}\``));
  const rows = Object.entries(names).map(([key, words]) => [words, ...all.map((each) => cell(each, key as Key))]);
  return [["", ...heads], ["---", ...all.map(() => "---")], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

type Key = keyof Capabilities;

const names: Readonly<Record<Key, string>> = {
  session: "runs in a terminal, where people attach",
  turn: "answers without a terminal",
  resume: "goes on in an earlier session",
  namesSession: "the session's id is ours to choose",
  model: "a model can be chosen",
  effort: "an effort can be chosen",
  reduced: "reduced permissions are",
  withholds: "kinds of tools that it can be kept from",
  toolsByName: "tools can be allowed by name",
  schema: "answers fit a schema",
  system: "instructions apart from the prompt",
  mcp: "our MCP server",
  acknowledges: "where it is seen that a message arrived",
  tokens: "tells tokens",
  cost: "tells what it costs",
};

function cell({ can }: Harness, key: Key): string {
  const value = can[key];
  if (typeof value === "boolean") return value ? "yes" : "–";
  if (typeof value === "string") return value === "no" ? "–" : value;
  return value.length === 0 ? "–" : value.join(", ");
}
