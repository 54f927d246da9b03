import type { ForgeComment } from "../../../ports/forge.ts";
import { jsonAt } from "../../json-at.ts";
import { isInsider } from "./is-insider.ts";
import { numberAt, numberOrNoneAt, textOrEmptyAt } from "./json-at.ts";
import { isMarked } from "./marker.ts";

/** A comment about a line. Of a line that is not in the diff any more, the number is the one it had. */
export function readLineComment(json: unknown): ForgeComment {
  const answers = numberOrNoneAt(json, "in_reply_to_id");
  return {
    ...common(json, "line", "created_at"),
    path: textOrEmptyAt(json, "path") || undefined,
    line: numberOrNoneAt(json, "line") ?? numberOrNoneAt(json, "original_line"),
    replyTo: answers === undefined ? undefined : `line${answers}`,
  };
}

export function readGeneralComment(json: unknown): ForgeComment {
  return { ...common(json, "general", "created_at"), path: undefined, line: undefined, replyTo: undefined };
}

/** The text of a review, if it has one. One that is not sent yet is nobody's business. */
export function readReviewText(json: unknown): readonly ForgeComment[] {
  if (jsonAt(json, "state") === "PENDING" || textOrEmptyAt(json, "body").trim() === "") return [];
  return [{ ...common(json, "review", "submitted_at"), path: undefined, line: undefined, replyTo: undefined }];
}

function common(json: unknown, kind: ForgeComment["kind"], time: string) {
  const text = textOrEmptyAt(json, "body");
  return {
    id: `${kind}${numberAt(json, "id")}`,
    kind,
    author: textOrEmptyAt(json, "user", "login"),
    isInsider: isInsider(json),
    isOurs: isMarked(text),
    text,
    url: textOrEmptyAt(json, "html_url"),
    writtenAt: Date.parse(textOrEmptyAt(json, time)) || 0,
  };
}
