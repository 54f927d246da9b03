import { jsonSchema, type Key, type Shape } from "../engine/language/shape.ts";
import { configFields, type Field, type Level } from "./config-fields.ts";

const fields = Object.values<Field>(configFields);

/** The maps that keys with a dot lead into. */
const groups: Readonly<Record<string, { readonly what: string; readonly description: string }>> = {
  notify: { what: "a map of notifications", description: "How you are called when a task needs a person" },
  chat: { what: "a map of chats", description: "Chats in which you are asked, and answer" },
  "chat.telegram": { what: "a map of settings for Telegram", description: "A Telegram bot that asks you" },
  agents: { what: "a map of settings for agents", description: "How agents are started, and how many" },
  web: { what: "a map of settings for browsers", description: "Where browsers reach the daemon" },
  dashboard: { what: "a map of settings for the dashboard", description: "How signalbox dashboard is used" },
  budget: { what: "a map of budgets", description: "How much agents may use before the daemon starts no more of them" },
};

/** What a configuration file may contain. */
export const configShapes: Readonly<Record<Level, Shape>> = {
  user: shapeOf(fields),
  project: shapeOf(fields.filter(({ level }) => level === "project")),
};

/** The user's file as JSON Schema, for editors. A repository's file may contain less. */
export function configSchema() {
  return jsonSchema(configShapes.user, "Signalbox configuration");
}

/** Whether only the user's file may have this key. */
export function isForUserOnly(key: string): boolean {
  return fields.some((field) => field.level === "user" && field.key.split(".")[0] === key);
}

function shapeOf(all: readonly Field[]): Shape {
  const keys: Readonly<Record<string, Key>> = {
    ...keysIn("", all),
    $schema: { shape: { kind: "text" }, description: "Where the schema of this file is, for editors" },
  };
  return { kind: "record", what: "a configuration", keys };
}

/** The keys in a map, and the maps in it. */
function keysIn(map: string, all: readonly Field[]): Readonly<Record<string, Key>> {
  const prefix = map === "" ? "" : `${map}.`;
  const own = all.filter(({ key }) => key.startsWith(prefix) && !key.slice(prefix.length).includes("."));
  const maps = Object.entries(groups).flatMap(([group, { what, description }]) => {
    const isHere = group.startsWith(prefix) && !group.slice(prefix.length).includes(".");
    const keys = isHere ? keysIn(group, all) : {};
    if (Object.keys(keys).length === 0) return [];
    return [[group.slice(prefix.length), { shape: { kind: "record", what, keys } as const, description }] as const];
  });
  const plain = own.map(({ key, shape, description }) => [key.slice(prefix.length), { shape, description }] as const);
  return Object.fromEntries([...plain, ...maps]);
}
