import type { Finder } from "./project-files.ts";

export const rspecTests: Finder = (files) => {
  const asksForRspec = /^[ \t]*gem[ \t(]+["']rspec(?:-rails|-core)?["']/m.test(files.read("Gemfile") ?? "");
  const from = files.has(".rspec") ? ".rspec" : asksForRspec ? "Gemfile" : undefined;
  if (from === undefined) return undefined;
  const argv = files.has("Gemfile") ? (["bundle", "exec", "rspec"] as const) : (["rspec"] as const);
  return { argv, from, why: from === ".rspec" ? 'There is a ".rspec".' : '"Gemfile" asks for rspec.' };
};
