/**
 * The path or glob of an item in its shortest form: `./src//app.ts` is `src/app.ts`. A path that is not one of the
 * repository's is refused with a reason that continues a sentence, such as "which is absolute. Name it …".
 */
export function readFile(written: string): FileReading {
  const problem = fileProblem(written);
  if (problem !== undefined) return { ok: false, problem };
  const segments = written.split("/").filter((segment) => segment !== "" && segment !== ".");
  return { ok: true, file: segments.length === 0 ? "**" : segments.join("/") };
}

type FileReading = { readonly ok: true; readonly file: string } | { readonly ok: false; readonly problem: string };

const example = "such as src/app.ts or docs/**.";

function fileProblem(written: string): string | undefined {
  if (written.trim() === "") return `which is empty. Name a file or a glob of the repository, ${example}`;
  if (hasControlCharacter(written))
    return `which contains a control character. Name a file of the repository, ${example}`;
  if (written.includes("\\")) return `which contains "\\". Write "/" between folders, ${example}`;
  if (/^(?:\/|~|[a-z][a-z0-9+.-]*:)/i.test(written))
    return `which is absolute. Name it relative to the repository, ${example}`;
  const names = written.split(/[/{},]/).map((name) => name.trim());
  if (names.includes("..")) return `which leads out of the repository. Name a file in it, ${example}`;
  if (names.some((name) => /^\.git$/i.test(name)))
    return `which belongs to git itself. Name a file of the repository, ${example}`;
  return undefined;
}

function hasControlCharacter(text: string): boolean {
  for (const char of text) if (char < " " || char === "\u007f") return true;
  return false;
}

/**
 * For each file, the numbers of the files that it can share something with, itself included: equal paths, a folder and
 * what is in it, globs that one path could match. Worked out for each file when it is first asked for.
 */
export function createOverlaps(files: readonly string[]): (file: number) => readonly number[] {
  const patterns = files.map((file) => file.split("/"));
  const root: Folder = { files: [], folders: new Map() };
  for (const [number, pattern] of patterns.entries()) placeOf(root, pattern).at(-1)?.files.push(number);
  const found: (readonly number[])[] = [];
  return (file) => {
    const known = found[file];
    if (known !== undefined) return known;
    const pattern = patterns[file] ?? [];
    const place = placeOf(root, pattern);
    const below = place.at(-1);
    const candidates = place.slice(0, -1).flatMap((folder) => folder.files);
    if (below !== undefined) candidates.push(...filesBelow(below));
    const overlaps = candidates.filter((other) => canMeet(pattern, patterns[other] ?? []));
    found[file] = overlaps;
    return overlaps;
  };
}

/** Files by the folders that their names begin with, up to the first wildcard: only those can overlap. */
interface Folder {
  readonly files: number[];
  readonly folders: Map<string, Folder>;
}

function placeOf(root: Folder, pattern: readonly string[]): readonly Folder[] {
  const place = [root];
  let at = root;
  for (const segment of pattern) {
    if (isWild(segment)) break;
    const next: Folder = at.folders.get(segment) ?? { files: [], folders: new Map() };
    at.folders.set(segment, next);
    place.push(next);
    at = next;
  }
  return place;
}

function filesBelow(folder: Folder): readonly number[] {
  const files: number[] = [];
  const open = [folder];
  for (const each of open) {
    files.push(...each.files);
    open.push(...each.folders.values());
  }
  return files;
}

function isWild(segment: string): boolean {
  return /[*?[{]/.test(segment);
}

/** Whether one path can be in both, or one can be in a folder that is the other. */
function canMeet(a: readonly string[], b: readonly string[]): boolean {
  const isEnd = (pattern: readonly string[], at: number, other: readonly string[]) =>
    isFolder(other.at(-1) ?? "") || pattern.slice(at).every((segment) => segment === "**");
  return meets(
    a.length,
    b.length,
    (i, j, open) => {
      const [one = "", other = ""] = [a[i], b[j]];
      if (one === "**") return open(i + 1, j) || open(i, j + 1);
      if (other === "**") return open(i, j + 1) || open(i + 1, j);
      return (one === other || canBothMatch(one, other)) && open(i + 1, j + 1);
    },
    (i, j) => (i < a.length ? isEnd(a, i, b) : isEnd(b, j, a)),
  );
}

/** A name with an ending, such as `app.ts`, is that of a file. */
function isFolder(name: string): boolean {
  return !/[^.]\.[a-z0-9]+$/i.test(name);
}

/** Whether one name can match both segments. `[…]` counts as any character, `{…}` as any text. */
function canBothMatch(one: string, other: string): boolean {
  if (!isWild(one) && !isWild(other)) return one === other;
  const [a, b] = [tokensOf(one), tokensOf(other)];
  const isRest = (tokens: readonly string[], from: number) => tokens.slice(from).every((token) => token === anyText);
  return meets(
    a.length,
    b.length,
    (i, j, open) => {
      if (a[i] === anyText) return open(i + 1, j) || open(i, j + 1);
      if (b[j] === anyText) return open(i, j + 1) || open(i + 1, j);
      return (a[i] === b[j] || a[i] === anyCharacter || b[j] === anyCharacter) && open(i + 1, j + 1);
    },
    (i, j) => isRest(a, i) && isRest(b, j),
  );
}

const anyText = "**";
const anyCharacter = "??";

function tokensOf(segment: string): readonly string[] {
  return (segment.match(/\*+|\?|\[[^\]]*\]|\{[^}]*\}|./gu) ?? []).map((token) => {
    if (token.startsWith("*") || (token.startsWith("{") && token.length > 1)) return anyText;
    return token === "?" || (token.startsWith("[") && token.length > 1) ? anyCharacter : token;
  });
}

/** Walks two patterns together; each pair of places is looked at once, so that many wildcards cost little. */
function meets(
  width: number,
  height: number,
  step: (i: number, j: number, open: (i: number, j: number) => boolean) => boolean,
  atEnd: (i: number, j: number) => boolean,
): boolean {
  const known = new Map<number, boolean>();
  const open = (i: number, j: number): boolean => {
    if (i >= width || j >= height) return atEnd(i, j);
    const key = i * (height + 1) + j;
    const before = known.get(key);
    if (before !== undefined) return before;
    const result = step(i, j, open);
    known.set(key, result);
    return result;
  };
  return open(0, 0);
}
