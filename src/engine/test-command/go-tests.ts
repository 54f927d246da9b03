import type { Finder } from "./project-files.ts";

export const goTests: Finder = (files) => {
  const modules = modulesOf(files.read("go.work") ?? "");
  if (modules.length > 0) {
    const argv = ["go", "test", ...modules.map((folder) => `${folder}/...`)] as const;
    return { argv, from: "go.work", why: '"go.work" names the modules.' };
  }
  if (!files.has("go.mod")) return undefined;
  return { argv: ["go", "test", "./..."], from: "go.mod", why: 'There is a "go.mod".' };
};

/** What go.work uses: on one line, or each on its own in brackets. Modules outside the project are not its own. */
function modulesOf(text: string): readonly string[] {
  let isInBrackets = false;
  const modules: string[] = [];
  for (const line of text.split("\n")) {
    const words = line.replace(/\/\/.*$/, "").split(/\s+/);
    const [first, second] = words.filter((word) => word !== "");
    if (first === ")") isInBrackets = false;
    else if (isInBrackets) modules.push(first ?? "");
    else if (first === "use" && second === "(") isInBrackets = true;
    else if (first === "use") modules.push(second ?? "");
  }
  return [...new Set(modules)]
    .map((folder) => folder.replace(/^(["`])(.*)\1$/, "$2").replace(/\/$/, ""))
    .filter((folder) => /^\.(?:\/[\w@.-]+)*$/.test(folder) && !folder.split("/").includes(".."));
}
