/** A pattern for paths. */
export interface Glob {
  test(path: string): boolean;
}

/**
 * A pattern for paths: `*` and `?` stay within a folder, `**` crosses folders, `{a,b}` and `[ab]` are choices. A pattern that
 * names a folder stands for everything in it; one without a slash stands for that name in the root only.
 */
export function globOf(pattern: string): Glob {
  const plain = pattern.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  const tokens = [...plain.matchAll(tokenForm)].map(([token]) => token);
  const opened = tokens.reduce((depth, each) => depth + (each === "{" ? 1 : each === "}" && depth > 0 ? -1 : 0), 0);
  // An unclosed brace is an ordinary character.
  if (opened > 0) return globOf(pattern.replaceAll("{", "[{]"));
  // A regular expression tries every combination of what several wildcards stand for; an agent chooses the paths.
  return tokens.filter((each) => each.includes("*")).length > maxWildcards ? automatonOf(tokens) : regularOf(tokens);
}

const tokenForm = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|[{},]|[^*?[{},]+|\[/g;
const maxWildcards = 2;

function regularOf(tokens: readonly string[]): Glob {
  let depth = 0;
  const parts = tokens.map((token) => {
    if (token === "**/") return "(?:[^/]+/)*";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token === "{") return depth++ === 0 ? "(?:" : "\\{";
    if (token === "}" && depth > 0) return --depth === 0 ? ")" : "\\}";
    if (token === ",") return depth === 1 ? "|" : ",";
    if (isChoice(token)) return choiceOf(token);
    return token.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  });
  return new RegExp(`^(?:${parts.join("")})(?:/.*)?$`, "s");
}

function isChoice(token: string): boolean {
  return /^\[.+\]$/.test(token);
}

function choiceOf(token: string): string {
  return token.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
}

/** A step from one state to another. Without `takes`, no character is taken. */
interface Step {
  readonly to: number;
  readonly takes?: (char: string) => boolean;
}

const any = () => true;
const inName = (char: string) => char !== "/";
const slash = (char: string) => char === "/";

/** Follows all possibilities at once, so its time grows only with the length of the path. */
function automatonOf(tokens: readonly string[]): Glob {
  const steps: Step[][] = [[]];
  const add = (from: number, to: number, takes?: Step["takes"]) =>
    void steps[from]?.push(takes === undefined ? { to } : { to, takes });
  const state = () => steps.push([]) - 1;
  /** A state that repeats itself with these characters, and the state after it. */
  const repeat = (from: number, takes: NonNullable<Step["takes"]>) => {
    const [loop, next] = [state(), state()];
    add(from, loop);
    add(loop, loop, takes);
    add(loop, next);
    return next;
  };
  const one = (from: number, takes: NonNullable<Step["takes"]>) => {
    const next = state();
    add(from, next, takes);
    return next;
  };
  let [at, depth, start, end] = [0, 0, 0, 0];
  for (const token of tokens) {
    if (token === "**/") {
      const [folders, name, next] = [state(), state(), state()];
      add(at, folders);
      add(folders, name, inName);
      add(name, name, inName);
      add(name, folders, slash);
      add(folders, next);
      at = next;
    } else if (token === "**") at = repeat(at, any);
    else if (token === "*") at = repeat(at, inName);
    else if (token === "?") at = one(at, inName);
    else if (token === "{" && depth++ === 0) [start, end] = [at, state()];
    else if (token === "}" && depth > 0 && --depth === 0) {
      add(at, end);
      at = end;
    } else if (token === "," && depth === 1) {
      add(at, end);
      at = start;
    } else if (isChoice(token)) {
      const choice = new RegExp(`^${choiceOf(token)}$`, "s");
      at = one(at, (char) => choice.test(char));
    } else for (const char of token.split("")) at = one(at, (each) => each === char);
  }
  // A pattern that names a folder stands for everything in it.
  const below = repeat(one(at, slash), any);
  return { test: (path) => accepts(steps, [at, below], path) };
}

function accepts(steps: readonly (readonly Step[])[], ends: readonly number[], path: string): boolean {
  const closed = (states: Iterable<number>) => {
    const all = new Set(states);
    // A set's iteration includes what is added meanwhile.
    for (const state of all) for (const { to, takes } of steps[state] ?? []) if (takes === undefined) all.add(to);
    return all;
  };
  let now = closed([0]);
  for (const char of path.split("")) {
    const next = [...now].flatMap((state) =>
      (steps[state] ?? []).flatMap(({ to, takes }) => (takes?.(char) === true ? [to] : [])),
    );
    if (next.length === 0) return false;
    now = closed(next);
  }
  return ends.some((end) => now.has(end));
}
