import { type ParseError, parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { shallow } from "../json.ts";
import type { ProjectFiles } from "./finders.ts";

type Note = (sentence: string) => void;

/** The value of a JSON file; comments and trailing commas are allowed. Undefined if it is missing or not valid JSON. */
export function readJson(files: ProjectFiles, path: string, note: Note): unknown {
  return readManifest(files, path, note, "JSON", (text) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return withComments(text);
    }
  });
}

/** The value of a TOML file; undefined if it is missing or not valid TOML. */
export function readToml(files: ProjectFiles, path: string, note: Note): unknown {
  return readManifest(files, path, note, "TOML", (text) => parseToml(text));
}

/** Agents can write anything into these files. A parser may throw any error, including a stack overflow. */
function readManifest(
  files: ProjectFiles,
  path: string,
  note: Note,
  language: string,
  parse: (text: string) => unknown,
): unknown {
  const text = files.read(path)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  try {
    return shallow(parse(text));
  } catch {
    note(`"${path}" is not valid ${language}.`);
    return undefined;
  }
}

/** The parser continues after a mistake; a file with mistakes is rejected. */
function withComments(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new SyntaxError("not JSON");
  return value;
}
