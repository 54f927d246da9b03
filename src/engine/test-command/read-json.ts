import type { ProjectFiles } from "./project-files.ts";

/** What is in a JSON file, comments and trailing commas forgiven. Undefined where there is none, or it is not JSON. */
export function readJson(files: ProjectFiles, path: string, note: (sentence: string) => void): unknown {
  const text = files.read(path)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  const value = parse(text) ?? parse(plainJson(text));
  if (value === undefined) note(`"${path}" is not valid JSON.`);
  return value;
}

/** What is found by going from field to field; undefined where there is no such way. */
export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (each, name) =>
      typeof each === "object" && each !== null && Object.hasOwn(each, name)
        ? (each as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Without what JSON does not know. In one pass, because agents can write anything into these files. */
function plainJson(text: string): string {
  const kept: string[] = [];
  // A comma is written only when it is known what follows.
  let comma = "";
  for (let i = 0; i < text.length; ) {
    const end = tokenEnd(text, i);
    const token = text.slice(i, end);
    i = end;
    if (/^(?:\s|\/\/|\/\*)/.test(token)) continue;
    if (token !== "}" && token !== "]") kept.push(comma);
    comma = token === "," ? "," : "";
    if (token !== ",") kept.push(token);
  }
  return kept.join("") + comma;
}

/** Where the text, comment, number, word or sign ends that begins at `start`. */
function tokenEnd(text: string, start: number): number {
  if (text[start] === '"') return textEnd(text, start);
  if (text.startsWith("//", start)) return endOf(text, "\n", start);
  if (text.startsWith("/*", start)) return endOf(text, "*/", start + 2);
  const word = /[\w.+-]+|\s+/y;
  word.lastIndex = start;
  return word.test(text) ? word.lastIndex : start + 1;
}

function textEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}

function endOf(text: string, closing: string, from: number): number {
  const found = text.indexOf(closing, from);
  return found === -1 ? text.length : found + closing.length;
}
