import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { fingerprint } from "../../src/documents/task-document.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { simulate } from "../../src/engine/simulate/simulate.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { loadText } from "./drive.ts";

// biome-ignore lint/suspicious/noExplicitAny: a workflow file before its form is checked
type Yaml = Record<string, any>;

const folder = new URL("../../workflows/", import.meta.url);

/** A test for each built-in workflow: with renamed states this many random lives are the same. */
export function testRenaming(lives: number): void {
  for (const file of readdirSync(folder)) {
    test(`${file}: renaming every state changes nothing but the names`, () => {
      const text = readFileSync(new URL(file, folder), "utf8");
      const plain = explicit(text, loadText(text, file));
      const names = inventNames(Object.keys(loadText(text, file).states));
      const back = new Map([...names].map(([state, name]) => [name, state]));
      const original = traces(lives, loadText(stringify(plain), file), (trace) => trace);
      const renamed = traces(lives, loadText(stringify(rename(plain, names)), file), (trace) =>
        trace.replace(/zz[a-z]{12}/g, (name) => back.get(name) ?? name),
      );
      expect(renamed.length).toBe(lives);
      const differing = renamed.findIndex((trace, i) => trace !== original[i]);
      expect(differing).toBe(-1);
    });
  }
}

/** Writes the meaning of default names into the file, because the new names have none. */
function explicit(text: string, workflow: Workflow): Yaml {
  const source = parse(text);
  for (const state of Object.values(workflow.states))
    if (state.terminal) source.states[state.name].outcome = state.outcome;
  source.unclear ??= workflow.unclear;
  return source;
}

function rename(source: Yaml, names: ReadonlyMap<string, string>): Yaml {
  const to = (state: string) => names.get(state) ?? state;
  const list = (value: string | string[]) => (Array.isArray(value) ? value.map(to) : to(value));
  const rule = (each: Yaml) =>
    Object.fromEntries(
      Object.entries(each).map(([key, value]) => {
        if (key === "then" || key === "status") return [key, to(value)];
        if (key === "then_when")
          return [key, value.map((choice: { then: string }) => ({ ...choice, then: to(choice.then) }))];
        return [key.endsWith("_after") ? `${to(key.slice(0, -6))}_after` : key, value];
      }),
    );
  const models = (setting: unknown) =>
    typeof setting === "object" && setting !== null && !Array.isArray(setting)
      ? Object.fromEntries(Object.entries(setting).map(([key, value]) => [to(key), value]))
      : setting;
  const states = Object.entries(source.states as Record<string, Yaml>).map(([name, state]) => [
    to(name),
    {
      ...state,
      ...(state.next ? { next: to(state.next) } : {}),
      ...(state.outcomes ? { outcomes: state.outcomes.map(rule) } : {}),
    },
  ]);
  return {
    ...source,
    ...(source.initial ? { initial: list(source.initial) } : {}),
    unclear: to(source.unclear),
    states: Object.fromEntries(states),
    transitions: source.transitions.map((each: { from: string; to: string }) => ({
      ...each,
      from: list(each.from),
      to: list(each.to),
    })),
    ...(source.promises
      ? {
          promises: source.promises.map((each: Yaml) => ({
            ...each,
            ...(each.to ? { to: to(each.to) } : {}),
            ...(each.of ? { of: to(each.of) } : {}),
          })),
        }
      : {}),
    ...(source.exit_monitoring
      ? { exit_monitoring: { ...source.exit_monitoring, rules: (source.exit_monitoring.rules ?? []).map(rule) } }
      : {}),
    ...(source.presets
      ? {
          presets: Object.fromEntries(
            Object.entries(source.presets).map(([name, values]) => [
              name,
              Object.fromEntries(Object.entries(values as object).map(([key, value]) => [key, models(value)])),
            ]),
          ),
        }
      : {}),
  };
}

function inventNames(states: readonly string[]): ReadonlyMap<string, string> {
  const random = createRandom(2026);
  const letter = () => String.fromCharCode(97 + Math.floor(random.next() * 26));
  return new Map(states.map((state) => [state, `zz${Array.from({ length: 12 }, letter).join("")}`]));
}

/** One fingerprint for all events of each life. */
function traces(lives: number, workflow: Workflow, normalise: (trace: string) => string): readonly string[] {
  const found: string[] = [];
  simulate(workflow, {
    runs: lives,
    seed: 7,
    onLife: (life) =>
      found.push(fingerprint(normalise(JSON.stringify([life.end, life.steps.map(({ task: _, ...step }) => step)])))),
  });
  return found;
}
