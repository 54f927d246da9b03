import { Fault } from "../../../fault.ts";

/** The path of the next page of a list, from the Link header; undefined on the last one. */
export function nextPage(link: string, apiUrl: string): string | undefined {
  const next = [...link.matchAll(/<([^>]*)>([^<]*)/g)].find(([, , about = ""]) => /;\s*rel="?next"?/.test(about))?.[1];
  if (next === undefined) return undefined;
  // The credential goes with the request, so it must not lead elsewhere.
  if (next.startsWith(`${apiUrl}/`)) return next.slice(apiUrl.length + 1);
  throw new Fault("forge.garbled", "The next page of a list of GitHub is not below its API.", {
    hint: "Check the address of the API.",
  });
}
