import { createHash } from "node:crypto";
import { Fault } from "../../../fault.ts";
import type { CommentBatch, ForgeComment, ForgeRepository } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { pathOf } from "./path-of.ts";
import { readGeneralComment, readLineComment, readReviewText } from "./read-comments.ts";

/**
 * A position is all that was told, with a fingerprint of each text. A time would not do: reviews do not say when they
 * were changed, times are whole seconds, and what is written first need not be listed first.
 */
export async function commentsSince(
  client: GithubClient,
  repository: ForgeRepository,
  number: number,
  position: string,
): Promise<CommentBatch> {
  const told = readPosition(position);
  const list = (...rest: readonly (string | number)[]) => client.getAll(pathOf(repository, ...rest));
  const written = [
    ...(await list("pulls", number, "reviews")).flatMap(readReviewText),
    ...(await list("pulls", number, "comments")).map(readLineComment),
    ...(await list("issues", number, "comments")).map(readGeneralComment),
  ];
  // What is deleted meanwhile moves the rest to other pages.
  const comments = [...new Map(written.map((each) => [each.id, each])).values()]
    .filter(({ id, text }) => told.get(id) !== fingerprint(text))
    .sort((a, b) => a.writtenAt - b.writtenAt);
  return { comments, position: comments.length === 0 ? position : writePosition(told, comments) };
}

function readPosition(position: string): ReadonlyMap<string, string> {
  if (position === "") return new Map();
  const parts = position.split(" ").map((part) => /^([a-z]+\d+)=([\w-]+)$/.exec(part));
  return new Map(
    parts.map((part) => {
      const [, id, text] = part ?? [];
      if (id !== undefined && text !== undefined) return [id, text];
      throw new Fault("forge.bad-position", "This is no position in the comments of a pull request.");
    }),
  );
}

function writePosition(told: ReadonlyMap<string, string>, comments: readonly ForgeComment[]): string {
  const all = new Map([...told, ...comments.map(({ id, text }) => [id, fingerprint(text)] as const)]);
  return [...all].map(([id, text]) => `${id}=${text}`).join(" ");
}

function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}
