import { type Finder, scriptIn } from "./project-files.ts";

export const railsTests: Finder = (files) => {
  const from = "bin/rails";
  if (!files.has(from) || files.list("test").length === 0) return undefined;
  const argv = files.canRun(from) ? scriptIn(files, from) : (["ruby", `./${from}`] as const);
  return { argv: [...argv, "test"], from, why: `There are "${from}" and a folder "test".` };
};
