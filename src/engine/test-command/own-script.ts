import type { Finder } from "./project-files.ts";

/** A program of the project whose only purpose is to run the tests. */
export const ownScript: Finder = (files) => {
  // A program without that line was built, perhaps from an older commit.
  const from = ["bin/test", "script/test"].find((path) => files.canRun(path) && files.read(path)?.startsWith("#!"));
  if (from === undefined) return undefined;
  return { argv: [`./${from}`], from, why: `The project has a program "${from}".` };
};
