import type { HarnessView } from "../../api/agent-wires.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { resolveConfig } from "../../home/resolve-config.ts";
import { ask } from "../ask.ts";
import { configLayers } from "../config-layers.ts";
import type { Context } from "../context.ts";

/** The one that comes along needs no model: it is for trying things out, and only for those who ask for it. */
const ownAgent = "scripted";

/**
 * Shows which harnesses are installed, and lets the person choose where there are several. Gives the name that is to be
 * recorded, empty where the configuration says it already, or `left`.
 */
export async function chooseHarness(context: Context, call: Call, root: string): Promise<string> {
  context.say("Looking for programs that agents can run in …");
  const { harnesses } = await call(routes.listHarnesses, { query: {} });
  const wanted = resolveConfig(configLayers(context, root, undefined)).harness.value;
  const found = harnesses.filter(({ found, name }) => found && (name !== ownAgent || name === wanted));
  const missing = harnesses.filter(({ found }) => !found);
  const [only, ...others] = found;
  if (only === undefined) {
    context.say(`  None is installed: ${missing.map(({ title }) => title).join(", ")}\n\n`);
    return "";
  }
  const usual = Math.max(
    0,
    found.findIndex(({ name }) => name === wanted),
  );
  for (const [i, harness] of found.entries()) context.say(`  ${i + 1}  ${shown(harness)}`);
  if (missing.length > 0) context.say(`  (not installed: ${missing.map(({ title }) => title).join(", ")})`);
  context.say("\n");
  const chosen = others.length === 0 ? only : await choose(found, usual);
  if (chosen === undefined) return "left";
  return chosen.name === wanted ? "" : chosen.name;
}

function shown({ title, version, limitedUntil }: HarnessView): string {
  const limited = limitedUntil === null ? "" : ", takes no more for now";
  return `${title}${version === "" ? "" : ` ${version}`}${limited}`;
}

async function choose(found: readonly HarnessView[], usual: number): Promise<HarnessView | undefined> {
  for (;;) {
    const answer = await ask(`Which one shall agents run in? [${usual + 1}]`);
    if (answer === undefined) return undefined;
    const byName = found.find(({ name, title }) =>
      [name, title].some((each) => each.toLowerCase() === answer.toLowerCase()),
    );
    const chosen = answer === "" ? found[usual] : (byName ?? found[Number(answer) - 1]);
    if (chosen !== undefined) return chosen;
  }
}
