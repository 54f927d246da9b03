import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
const src = join(root, "src");

export interface SourceFile {
  /** From `src`, such as "engine/decide.ts". */
  readonly file: string;
  readonly text: string;
  /** The files of `src` that it imports, types and dynamic imports included. */
  readonly imports: readonly string[];
}

/** Every file of `src` except tests. */
export function readSources(): readonly SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => file.replaceAll("\\", "/"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(src, file), "utf8");
      return { file, text, imports: importsOf(file, text) };
    });
}

export function folderOf(file: string): string {
  return file.includes("/") ? dirname(file) : "";
}

/** Whether a file declares a name at its top level, or one level below, as factories declare the functions they return. */
export function declares(text: string, name: string): boolean {
  const escaped = name.replaceAll("$", "\\$");
  return new RegExp(
    `^ {0,2}(?:export )?(?:async )?(?:function\\*?|const|class|interface|type) ${escaped}\\b`,
    "m",
  ).test(text);
}

function importsOf(file: string, text: string): readonly string[] {
  const form = /^(?:import|export)\b[^"'`;]*\bfrom\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  const specifiers = [...text.matchAll(form)].map(([, a, b]) => a ?? b ?? "").filter((each) => each.startsWith("."));
  return [...new Set(specifiers.map((each) => relative(src, resolve(src, dirname(file), each)).replaceAll("\\", "/")))];
}
