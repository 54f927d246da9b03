import type { Finder } from "./project-files.ts";

export const mixTests: Finder = (files) =>
  files.has("mix.exs") ? { argv: ["mix", "test"], from: "mix.exs", why: 'There is a "mix.exs".' } : undefined;
