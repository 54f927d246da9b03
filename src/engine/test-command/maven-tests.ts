import { type Finder, scriptIn } from "./project-files.ts";

export const mavenTests: Finder = (files, note) => {
  const from = "pom.xml";
  const text = files.read(from);
  if (text === undefined) return undefined;
  if (!text.includes("<project")) {
    note(`"${from}" has no "project" element.`);
    return undefined;
  }
  const program = files.has("mvnw") ? scriptIn(files, "mvnw") : (["mvn"] as const);
  return { argv: [...program, "--batch-mode", "test"], from, why: `There is a "${from}".` };
};
