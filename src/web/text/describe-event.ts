import type { EventView } from "../../api/tasks.ts";

/** Fields of an event that a person wants to read, in this order. What is about commits and hashes is left out. */
const told: readonly string[] = [
  "request",
  "action",
  "word",
  "text",
  "message",
  "reason",
  "summary",
  "status",
  "sections",
  "changed",
  "files",
  "title",
  "url",
];

/** An event as one line: what happened, with whom and why. */
export function describeEvent({ type, data }: Pick<EventView, "type" | "data">): string {
  // In events of messages this is the message's id.
  const isId = (name: string) => name === "message" && type.startsWith("message.");
  const field = (name: string) => (isId(name) ? "" : shown(data[name]));
  const way = field("from") !== "" && field("to") !== "" ? `${field("from")} → ${field("to")}` : field("to");
  return [way, field("run"), ...told.map(field)].filter((each) => each !== "").join(" · ");
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join(", ");
  return "";
}
