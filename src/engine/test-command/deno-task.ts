import type { Finder } from "./project-files.ts";
import { fieldOf, readJson } from "./read-json.ts";

export const denoTask: Finder = (files, note) => {
  const from = ["deno.json", "deno.jsonc"].find((name) => files.has(name));
  if (from === undefined) return undefined;
  const task = fieldOf(readJson(files, from, note), "tasks", "test");
  const command = typeof task === "object" ? fieldOf(task, "command") : task;
  if (typeof command !== "string" || command.trim() === "") return undefined;
  return { argv: ["deno", "task", "test"], from, why: `"${from}" has a task "test".` };
};
