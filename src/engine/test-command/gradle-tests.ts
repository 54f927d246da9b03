import { type Finder, scriptIn } from "./project-files.ts";

export const gradleTests: Finder = (files) => {
  const names = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
  const from = names.find((name) => files.has(name));
  if (from === undefined) return undefined;
  const program = files.has("gradlew") ? scriptIn(files, "gradlew") : (["gradle"] as const);
  return { argv: [...program, "--console=plain", "test"], from, why: `There is a "${from}".` };
};
