import { after, answered, gatePassed, merged, neverBy, testsPassed } from "../promise-forms.ts";
import { runsOf, runsTests } from "../proofs.ts";
import type { AuthorsPromise, PromisedEvidence, Workflow } from "../workflow.ts";

/** Promises about a state, that a file does not state, and that hold today. */
export interface Suggestion {
  readonly to: string;
  readonly promises: readonly string[];
}

/** More than this many would take long to explore, and nobody would read them. */
const maxCandidates = 24;

/** The ends of done tasks about which the file promises nothing. */
export function unpromisedEnds({ states, promises }: Workflow): readonly string[] {
  const named = new Set(promises.flatMap((promise) => ("to" in promise ? [promise.to] : [])));
  return Object.values(states).flatMap(({ name, outcome }) => (outcome === "done" && !named.has(name) ? [name] : []));
}

/** Promises that a file could state about the ends of done tasks; exploring shows which of them hold. */
export function candidatesFor(workflow: Workflow): readonly AuthorsPromise[] {
  const ends = unpromisedEnds(workflow);
  if (ends.length === 0) return [];
  const agents = [...new Set(runsOf(workflow).map(({ role }) => role))];
  const evidence = evidenceOf(workflow);
  return ends
    .flatMap((to) => [
      ...evidence.map((each) => after(to, each)),
      ...(agents.length === 0 ? [] : [neverBy(to, agents)]),
    ])
    .slice(0, maxCandidates);
}

function evidenceOf({ states, ways, owners }: Workflow): readonly PromisedEvidence[] {
  const all = Object.values(states);
  const sections = new Set(
    ways.flatMap(({ gates }) => gates.flatMap(({ section, verdict }) => (verdict === "PASS" ? [section] : []))),
  );
  const answers = all.flatMap(({ wait, rules }) => {
    const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
    if (run === undefined) return [];
    return rules.flatMap(({ result = {} }) =>
      Object.entries(result).flatMap(([field, value]) => (value === true ? [{ field, role: run.role }] : [])),
    );
  });
  const found = [
    merged,
    ...(all.some(({ do: work }) => work.some(runsTests)) ? [testsPassed] : []),
    ...[...sections].flatMap((section) => {
      const by = owners[section] ?? [];
      return by.length === 0
        ? [gatePassed(section, "PASS", undefined)]
        : people(by, (who) => gatePassed(section, "PASS", who));
    }),
    ...answers.flatMap(({ field, role }) => people([role], (who) => answered({ [field]: true }, who))),
  ];
  return [...new Map(found.map((each) => [each.key, each])).values()];
}

/** The stricter form first: without a person's word, and with it. */
function people(
  by: readonly string[],
  write: (by: readonly string[]) => PromisedEvidence,
): readonly PromisedEvidence[] {
  return by.includes("human") ? [write(by)] : [write(by), write([...by, "human"])];
}

/** The candidates that hold. Of the two forms of one promise, the stricter one is enough. */
export function suggestionsFrom(
  candidates: readonly AuthorsPromise[],
  holds: (promise: AuthorsPromise) => boolean,
): readonly Suggestion[] {
  const held = candidates.filter(holds);
  const weaker = held.filter((promise) => held.some((other) => isStricter(other, promise)));
  const strict = held.filter((promise) => !weaker.includes(promise));
  const byEnd = Map.groupBy(strict, (promise) => ("to" in promise ? promise.to : ""));
  return [...byEnd].map(([to, promises]) => ({ to, promises: promises.map(({ written }) => written) }));
}

function isStricter(a: AuthorsPromise, b: AuthorsPromise): boolean {
  if (a.kind !== "after" || b.kind !== "after" || a.to !== b.to || a === b) return false;
  const [one, two] = [a.evidence, b.evidence];
  if (!("by" in one) || !("by" in two) || one.by === undefined || two.by === undefined) return false;
  const widened = [...one.by, "human"].join();
  return two.by.join() === widened && one.key.replace(/, by: .*$/, "") === two.key.replace(/, by: .*$/, "");
}
