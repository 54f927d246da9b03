import type { Finder } from "./project-files.ts";

export const rakeTask: Finder = (files) => {
  const from = ["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"].find((name) => files.has(name));
  if (from === undefined || !hasTestTask(files.read(from) ?? "")) return undefined;
  const argv = files.has("Gemfile") ? (["bundle", "exec", "rake", "test"] as const) : (["rake", "test"] as const);
  return { argv, from, why: `"${from}" has a task "test".` };
};

// Only at the start of a line: what is indented is in a namespace, and has another name.
function hasTestTask(text: string): boolean {
  if (/^(?:multi)?task[ \t(]+(?::test\b|"test"|'test'|test:)/m.test(text)) return true;
  const names = /^(?:Rake|Minitest)::TestTask\.(?:new|create)\b[ \t(]*(?::(\w+)|["'](\w+)["'])?/gm;
  return [...text.matchAll(names)].some(([, symbol, quoted]) => (symbol ?? quoted ?? "test") === "test");
}
