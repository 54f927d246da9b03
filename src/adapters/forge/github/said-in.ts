import { jsonAt } from "../../json-at.ts";
import { textOrEmptyAt } from "./json-at.ts";

/** What GitHub itself says about an answer, in one line; nothing where it did not answer in JSON. */
export function saidIn(body: string): string {
  try {
    return collect(JSON.parse(body));
  } catch {
    return "";
  }
}

function collect(json: unknown): string {
  const errors = jsonAt(json, "errors");
  const details = (Array.isArray(errors) ? errors : []).map((error) =>
    typeof error === "string" ? error : textOrEmptyAt(error, "message") || describeField(error),
  );
  const said = [textOrEmptyAt(json, "message"), ...details].filter((part) => part !== "");
  return said
    .join(" ")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 500);
}

function describeField(error: unknown): string {
  const field = textOrEmptyAt(error, "field");
  return field === "" ? "" : `"${field}" is ${textOrEmptyAt(error, "code") || "wrong"}.`;
}
