import type { Finder } from "./project-files.ts";

export const phpunitTests: Finder = (files, note) => {
  const from = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"].find((name) => files.has(name));
  if (from === undefined) return undefined;
  if (!files.read(from)?.includes("<phpunit")) {
    note(`"${from}" has no "phpunit" element.`);
    return undefined;
  }
  const own = ["vendor/bin/phpunit", "bin/phpunit"].find((path) => files.canRun(path));
  return { argv: [own === undefined ? "phpunit" : `./${own}`], from, why: `There is a "${from}".` };
};
