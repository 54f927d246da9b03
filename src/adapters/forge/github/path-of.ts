import { Fault } from "../../../fault.ts";
import type { ForgeRepository } from "../../../ports/forge.ts";

/** The path of something that belongs to a repository. Every segment is data: nothing in it leads elsewhere. */
export function pathOf({ owner, name }: ForgeRepository, ...segments: readonly (string | number)[]): string {
  return ["repos", owner, name, ...segments].map((segment) => encoded(String(segment))).join("/");
}

function encoded(segment: string): string {
  // A URL that has these is read as one without them and what is before them.
  if (segment === "" || segment === "." || segment === "..")
    throw new Fault("forge.invalid", `"${segment}" cannot be a part of a name on GitHub.`);
  return encodeURIComponent(segment);
}
