import type { ForgeRepository } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { cutText, mostText } from "./cut-text.ts";
import { textOrEmptyAt } from "./json-at.ts";
import { hasMarker, markerOf } from "./marker.ts";
import { pathOf } from "./path-of.ts";

export async function writeComment(
  client: GithubClient,
  repository: ForgeRepository,
  { number, text, key }: { readonly number: number; readonly text: string; readonly key: string },
): Promise<{ readonly url: string }> {
  const path = pathOf(repository, "issues", number, "comments");
  const marker = markerOf(key);
  const before = (await client.getAll(path)).find((each) => hasMarker(textOrEmptyAt(each, "body"), marker));
  if (before !== undefined) return { url: textOrEmptyAt(before, "html_url") };
  const { json } = await client.send("POST", path, { body: `${cutText(text, mostText)}\n\n${marker}` }, []);
  return { url: textOrEmptyAt(json, "html_url") };
}
