import { isAlias, isMap, isNode, parseDocument } from "yaml";
import { didYouMean } from "../engine/language/nearest.ts";
import { readTree } from "../engine/language/tree.ts";
import { Fault } from "../fault.ts";
import { configFault, misplaced, moveIt } from "./config.ts";
import { configFields, type Field, type Level } from "./config-fields.ts";
import { configValue } from "./config-value.ts";

/** The text of a configuration with one key changed or added, such as `notify.webhook`. Comments and order stay. */
export function setConfig(
  text: string,
  key: string,
  written: string | number | boolean,
  level: Level = "user",
): string {
  const value = configValue(fieldFor(key, level), written, key);
  const document = parseDocument(text);
  const { problems } = readTree(text, "config.yml");
  if (problems.length > 0) throw configFault("config.yml", problems);
  if (document.contents !== null && !isMap(document.contents)) {
    throw new Fault("invalid-config", "The configuration is no map of keys.", { hint: "Mend the file." });
  }
  const path = key.split(".");
  const outer = document.get(path[0], true);
  if (isShared(outer) || (isMap(outer) && isShared(outer.get(path[1], true)))) {
    throw new Fault("invalid-config", `The value of "${key}" is shared with another key, by an anchor and an alias.`, {
      hint: "Change it in an editor.",
    });
  }
  // A key with nothing behind it is an empty map.
  if (path.length > 1 && !isMap(outer)) document.set(path[0], document.createNode({}));
  document.setIn(path, value);
  return document.toString({ lineWidth: 0 });
}

function isShared(node: unknown): boolean {
  return isAlias(node) || (isNode(node) && node.anchor !== undefined);
}

function fieldFor(key: string, level: Level): Field {
  const fields = Object.values<Field>(configFields);
  const field = fields.find((each) => each.key === key);
  if (field === undefined) {
    const known = fields.map((each) => each.key);
    throw new Fault("usage", `There is no key "${key}" in a configuration.`, { hint: didYouMean(key, known) });
  }
  if (level === "project" && field.level === "user") throw new Fault("usage", misplaced(key), { hint: moveIt });
  return field;
}
