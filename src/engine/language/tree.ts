import { type Alias, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import type { Path, Place, Problem } from "./problem.ts";
import { tagSlip, yamlSlips } from "./yaml-slip.ts";

/** A parsed YAML file: values with their places. */
export type Tree =
  | { readonly kind: "map"; readonly place: Place; readonly entries: readonly Entry[] }
  | { readonly kind: "list"; readonly place: Place; readonly items: readonly Tree[] }
  | { readonly kind: "scalar"; readonly place: Place; readonly value: string | number | boolean | null };

interface Entry {
  readonly key: string;
  readonly keyPlace: Place;
  readonly value: Tree;
}

// A workflow is a page or two. A far larger file is a mistake or an attack, and would slow every check down.
const maxBytes = 256 * 1024;
const maxDepth = 24;
const maxNodes = 20_000;

/** Reads YAML. Warnings of the parser are errors: a file that is only partly understood must not govern tasks. */
export function readTree(text: string, file: string): { tree: Tree | undefined; problems: readonly Problem[] } {
  const problem = (place: Place, message: string, fix: string): Problem => ({
    level: "error",
    file,
    line: place.line,
    column: place.column,
    message,
    fix,
  });
  const start = { line: 1, column: 1, offset: 0 };
  if (text.length > maxBytes) {
    const size = `The file has ${Math.ceil(text.length / 1024)} KB; it may have ${maxBytes / 1024} KB.`;
    return { tree: undefined, problems: [problem(start, size, "Move long texts out of it.")] };
  }

  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    uniqueKeys: true,
    merge: false,
    logLevel: "error",
  });
  const placeAtOffset = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, offset };
  };
  const found = yamlSlips(document, text).map(({ offset, message, fix }) =>
    message.includes("Maximum call stack")
      ? problem(placeAtOffset(offset), `This is nested deeper than ${maxDepth} levels.`, "Flatten it.")
      : problem(placeAtOffset(offset), message, fix),
  );
  if (found.length > 0) return { tree: undefined, problems: found };

  const problems: Problem[] = [];
  const targets = aliasTargets(document);
  let nodes = 0;
  const placeOf = (node: unknown): Place => {
    const range = (node as { range?: [number, number, number] | null } | null)?.range;
    if (!range) return start;
    return placeAtOffset(range[0]);
  };
  const convert = (node: unknown, depth: number, above: Place): Tree => {
    const place = node === null ? above : placeOf(node);
    nodes++;
    if (nodes === maxNodes + 1)
      problems.push(problem(place, `The file has more than ${maxNodes} values.`, "Make it smaller."));
    if (depth === maxDepth + 1)
      problems.push(problem(place, `This is nested deeper than ${maxDepth} levels.`, "Flatten it."));
    if (nodes > maxNodes || depth > maxDepth) return { kind: "scalar", place, value: null };
    if (isAlias(node)) {
      const target = targets.get(node);
      if (target === undefined)
        problems.push(
          problem(place, `There is no anchor "${node.source}".`, `Write &${node.source} in front of a value above.`),
        );
      return convert(target ?? null, depth + 1, place);
    }
    const { tag } = (node ?? {}) as { tag?: string };
    if (tag !== undefined && tag !== "") {
      const { message, fix } = tagSlip(place.offset, shownTag(tag));
      problems.push(problem(place, message, fix));
    }
    if (isMap(node)) {
      const entries = node.items.map((pair): Entry => {
        const key = isScalar(pair.key) ? String(pair.key.value) : "";
        const keyPlace = placeOf(pair.key);
        if (!isScalar(pair.key)) problems.push(problem(keyPlace, "A key must be a plain word.", "Write it as text."));
        return { key, keyPlace, value: convert(pair.value, depth + 1, keyPlace) };
      });
      return { kind: "map", place, entries };
    }
    if (isSeq(node)) return { kind: "list", place, items: node.items.map((item) => convert(item, depth + 1, place)) };
    const value = isScalar(node) ? node.value : null;
    if (typeof value === "string" || typeof value === "boolean" || value === null)
      return { kind: "scalar", place, value };
    if (typeof value === "number" && Number.isFinite(value)) return { kind: "scalar", place, value };
    problems.push(problem(place, "This kind of value is not allowed here.", "Use text, numbers, true or false."));
    return { kind: "scalar", place, value: null };
  };
  const tree = convert(document.contents, 0, start);
  return problems.length > 0 ? { tree: undefined, problems } : { tree, problems };
}

/** YAML's own tags are written with two exclamation marks. */
function shownTag(tag: string): string {
  return tag.replace(/^tag:yaml\.org,2002:/, "!!");
}

/** The target of each alias, in one walk: the parser's own `resolve` walks the whole file for each alias. */
function aliasTargets(document: ReturnType<typeof parseDocument>): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node: (_, node) => {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (isAlias(node) && target !== undefined) targets.set(node, target);
      else if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** The place of the value at `path`, or of its nearest ancestor. */
export function placeAt(tree: Tree, path: Path): Place {
  let at = tree;
  let place = tree.place;
  for (const step of path) {
    const next = child(at, step);
    if (next === undefined) return place;
    at = next;
    place = next.place;
  }
  return place;
}

/** The place of the last key of `path`. */
export function keyPlaceAt(tree: Tree, path: Path): Place {
  const parent = path.slice(0, -1).reduce<Tree | undefined>((at, step) => at && child(at, step), tree);
  const last = path.at(-1);
  if (parent?.kind !== "map") return placeAt(tree, path);
  return parent.entries.find((entry) => entry.key === last)?.keyPlace ?? placeAt(tree, path);
}

function child(tree: Tree, step: string | number): Tree | undefined {
  if (tree.kind === "list" && typeof step === "number") return tree.items[step];
  if (tree.kind === "map") return tree.entries.find((entry) => entry.key === step)?.value;
  return undefined;
}
