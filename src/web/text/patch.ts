/** One file of a patch, as git writes it. */
export interface FilePatch {
  /** Its path; the old one if it was deleted. */
  readonly path: string;
  readonly text: string;
  /** How many lines the patch of this file has. */
  readonly size: number;
  readonly isBinary: boolean;
}

/** The longest line that is shown: a minified file would be one line of megabytes. */
const maxLine = 2_000;

/** The files of a patch. Lines of content never begin with a letter, so what looks like a header is one. */
export function filesOfPatch(patch: string): readonly FilePatch[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((part) => {
      const lines = part.split("\n");
      const head = lines.slice(
        0,
        Math.max(
          1,
          lines.findIndex((line) => line.startsWith("@@")),
        ),
      );
      const isLong = lines.some((line) => line.length > maxLine);
      return {
        path: pathOf(head.length > 1 ? head : lines.slice(0, 8)),
        text: isLong ? lines.map(cutLine).join("\n") : part,
        size: lines.length,
        isBinary: /^(Binary files |GIT binary patch)/m.test(part),
      };
    });
}

function cutLine(line: string): string {
  return line.length <= maxLine ? line : `${line.slice(0, maxLine)} … (${line.length - maxLine} more characters)`;
}

function pathOf(head: readonly string[]): string {
  for (const start of ["+++ ", "--- "]) {
    const named = head.find((line) => line.startsWith(start))?.slice(start.length);
    if (named !== undefined && named !== "/dev/null") return withoutSide(unquoted(named));
  }
  const renamed = head.find((line) => line.startsWith("rename to "))?.slice("rename to ".length);
  if (renamed !== undefined) return unquoted(renamed);
  // Neither lines nor a rename: a change of mode, or a binary or empty file, whose two names are the same.
  const names = (head[0] ?? "").slice("diff --git ".length);
  return withoutSide(unquoted(names.slice(0, Math.floor(names.length / 2))));
}

function withoutSide(path: string): string {
  return path.replace(/^[ab]\//, "");
}

/** Git quotes paths with special characters as C does. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path.replace(/\t$/, "");
  const bytes: number[] = [];
  const inside = path.replace(/^"|"\s*$/g, "");
  for (const [, octal, escaped, plain = ""] of inside.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(...new TextEncoder().encode(escaped === undefined ? plain : (escapes[escaped] ?? escaped)));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", v: "\v", f: "\f" };
