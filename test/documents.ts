import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

/** Every document of the project, with its path from the root. */
export const documents: readonly { readonly file: string; readonly text: string }[] = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].map((file) => ({ file, text: read(file) }));

export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** The content of every block in this language, without the indentation of the fence. */
export function fenced(text: string, name: string): readonly string[] {
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].flatMap(([, indent = "", kind, body = ""]) =>
    kind === name ? [body.replace(new RegExp(`^${indent}`, "gm"), "")] : [],
  );
}
