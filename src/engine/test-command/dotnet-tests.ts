import type { Finder } from "./project-files.ts";

export const dotnetTests: Finder = (files) => {
  const names = files.list("");
  const from = names.find((name) => /\.slnx?$/.test(name)) ?? names.find((name) => /\.(?:cs|fs|vb)proj$/.test(name));
  if (from === undefined || from.includes("\0")) return undefined;
  // It is named, because dotnet refuses to choose where there are several.
  return { argv: ["dotnet", "test", `./${from}`], from, why: `There is a "${from}".` };
};
