import { jsonAt } from "../../json-at.ts";
import { parseObject, textAt } from "../json-at.ts";
import type { CodexPorts } from "./codex-ports.ts";

const patience = 30_000;

/**
 * Which model Codex would rather have in place of which. It asks about that before a session begins, unless it is told
 * that it has asked. Nothing where it does not tell.
 */
export async function modelUpgrades(
  program: string,
  { commands, env }: CodexPorts,
): Promise<Readonly<Record<string, string>>> {
  const pieces: Uint8Array[] = [];
  await commands
    .run({
      argv: [program, "debug", "models"],
      cwd: "/",
      env,
      timeout: patience,
      onOutput: (chunk) => pieces.push(chunk),
    })
    .catch(() => undefined);
  const text = Buffer.concat(pieces).toString("utf8");
  const models = jsonAt(parseObject(text.slice(Math.max(0, text.indexOf("{")))), "models");
  if (!Array.isArray(models)) return {};
  const upgrades = models.map((model) => [textAt(model, "slug"), textAt(model, "upgrade", "model")] as const);
  return Object.fromEntries(upgrades.filter(([from, to]) => from !== "" && to !== ""));
}
