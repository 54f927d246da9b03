import { parseTaskDocument, type TaskDocument } from "../../../src/documents/task-document.ts";
import { createTask } from "../../../src/engine/create.ts";
import { decide } from "../../../src/engine/decide.ts";
import type { Decision, Effect } from "../../../src/engine/decision.ts";
import type { Facts, Request } from "../../../src/engine/request.ts";
import { blankIdentity, type Task } from "../../../src/engine/task.ts";
import type { Settings, Workflow } from "../../../src/engine/workflow.ts";
import { guardsOf, requestsFor, sectionTexts } from "./requests.ts";

// A second explorer, slow and simple, which verify is checked against. It knows nothing of src/engine/explore: it tries every
// request that the daemon could make, with every value of whatever facts a decision reads, on whole tasks. Only names that
// count upwards are renamed, because no task would ever be in the same position twice with them.

/** A task and what is known about the world around it. */
export interface Place {
  readonly task: Task;
  readonly workspace: boolean;
  /** Whether some run was started, children were made, findings were reported. */
  readonly ran: boolean;
  readonly fanned: boolean;
  readonly reviewed: boolean;
  /** An effect of the last decision may still fail. */
  readonly owes: boolean;
}

export interface NaiveGraph {
  readonly places: readonly Place[];
  readonly next: readonly (readonly number[])[];
  readonly requests: readonly (readonly Request[])[];
  /** How the place was reached: the place before it. */
  readonly from: readonly (number | undefined)[];
  readonly via: readonly (Request | undefined)[];
  /** The rules that were taken, as `state rule 1`. */
  readonly rules: ReadonlySet<string>;
  /** False where there were more places than allowed. The places behind `expanded` have no steps then. */
  readonly complete: boolean;
  readonly expanded: number;
}

export interface Configuration {
  readonly preset: string;
  readonly settings: Settings;
}

/** Every place that a task reaches, up to a bound, breadth first. */
export function exploreNaively(workflow: Workflow, { preset, settings }: Configuration, bound: number): NaiveGraph {
  const places: Place[] = [];
  const next: number[][] = [];
  const requests: Request[][] = [];
  const from: (number | undefined)[] = [];
  const via: (Request | undefined)[] = [];
  const rules = new Set<string>();
  const known = new Map<string, number>();
  const visit = (place: Place, before: number | undefined, request: Request | undefined): number => {
    const renamed = rename(place);
    const key = JSON.stringify(renamed, (_, value) => (value === undefined ? null : value));
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, places.length);
    places.push(renamed);
    next.push([]);
    requests.push([]);
    from.push(before);
    via.push(request);
    return places.length - 1;
  };
  for (const status of new Set([workflow.initial[0] ?? "", workflow.unclear, ...workflow.initial])) {
    const place = { workspace: false, ran: false, fanned: false, reviewed: false, owes: false };
    const identity = { ...blankIdentity, id: "t1", project: "p", number: 1, branch: "b", summary: "A task" };
    const facts = factsOf({ ...place, task: {} as Task }, () => 0, workflow);
    const created = createTask(workflow, { ...identity, workflow: workflow.name, status, preset, settings }, facts);
    if (created.kind === "moved") visit(after({ ...place, task: created.task }, created), undefined, undefined);
  }
  let at = 0;
  for (; at < places.length && places.length <= bound; at++) {
    const place = places[at] as Place;
    for (const request of requestsFor(workflow, place)) {
      for (const decision of outcomes(workflow, place, request)) {
        const cause = decision.events.findLast(({ type }) => type === "task.moved")?.data as
          | { cause?: string }
          | undefined;
        if (cause?.cause !== undefined) rules.add(`${place.task.status} ${cause.cause}`);
        next[at]?.push(visit(after(place, decision), at, request));
        requests[at]?.push(request);
      }
    }
  }
  return { places, next, requests, from, via, rules, complete: at === places.length, expanded: at };
}

/** The places from which no end can be reached, where that is certain. */
export function wedgesOf(workflow: Workflow, { places, next, complete }: NaiveGraph): readonly number[] {
  if (!complete) return [];
  return unreaching(places, next, ({ task }) => workflow.states[task.status]?.terminal === true);
}

/** The places from which no end of this kind can be reached. */
export function unreaching(
  places: readonly Place[],
  next: NaiveGraph["next"],
  is: (place: Place) => boolean,
): readonly number[] {
  const before: number[][] = places.map(() => []);
  for (const [from, targets] of next.entries()) for (const to of targets) before[to]?.push(from);
  const reached = places.map(is);
  const queue = reached.flatMap((yes, node) => (yes ? [node] : []));
  for (const node of queue) {
    for (const from of before[node] ?? []) {
      if (reached[from]) continue;
      reached[from] = true;
      queue.push(from);
    }
  }
  return reached.flatMap((yes, node) => (yes ? [] : [node]));
}

type Changed = Extract<Decision, { kind: "moved" | "stayed" }>;
type Choose = (name: string, among: readonly number[]) => number;

/** Every decision about a request, one for each value of each fact that deciding reads. */
function outcomes(workflow: Workflow, place: Place, request: Request): readonly Changed[] {
  const found: Changed[] = [];
  const trail: { readonly values: readonly number[]; at: number }[] = [];
  for (let tries = 0; tries < 200; tries++) {
    let read = 0;
    const chosen = new Map<string, number>();
    const choose: Choose = (name, among) => {
      const before = chosen.get(name);
      if (before !== undefined) return before;
      const entry = trail[read] ?? { values: among, at: 0 };
      trail[read++] = entry;
      const value = entry.values[entry.at] ?? 0;
      chosen.set(name, value);
      return value;
    };
    const decision = decide(workflow, place.task, request, factsOf(place, choose, workflow));
    if (decision.kind === "moved" || decision.kind === "stayed") found.push(decision);
    trail.length = read;
    while (trail.length > 0 && (trail.at(-1) as (typeof trail)[number]).at + 1 >= (trail.at(-1)?.values.length ?? 0))
      trail.pop();
    const last = trail.at(-1);
    if (last === undefined) break;
    last.at++;
  }
  return found;
}

/** The facts as the daemon would gather them; `choose` decides what is open. */
function factsOf(place: Place, choose: Choose, workflow: Workflow): Facts {
  const isActor = place.task.status !== undefined;
  return {
    document: documentFor(workflow, choose),
    head: "",
    artifacts: {},
    taskFileTracked: false,
    get poolFull() {
      return isActor && !place.workspace && choose("pool", [0, 1]) === 1;
    },
    willHaveWorkspace: place.workspace,
    numbers: new Proxy({}, { get: (_, name) => choose(String(name), valuesOf(String(name), place, workflow)) }),
  };
}

/** What a fact can be in this place. */
function valuesOf(name: string, place: Place, workflow: Workflow): readonly number[] {
  const { workspace, ran, fanned, reviewed, task } = place;
  const state = workflow.states[task.status];
  const here =
    state === undefined ? [] : [...Object.values(state.out).flat(), ...state.rules].flatMap((each) => each.when);
  const skips = [task.status, ...Object.keys(state?.out ?? {})].flatMap((each) => workflow.states[each]?.unless ?? []);
  const asksMerged = [...here, ...skips, ...(state?.evidence ?? [])].some(({ field }) => field === "merged");
  const hasWork = workspace || (ran && asksMerged);
  const numbers = guardsOf(workflow)
    .filter(({ field }) => field === name)
    .map(({ value }) =>
      Number(
        typeof value === "number"
          ? value
          : (task.settings[value.setting] ??
              workflow.presets[task.preset]?.[value.setting] ??
              workflow.settings[value.setting]?.default ??
              0),
      ),
    );
  const range = Array.from({ length: Math.max(1, ...numbers) + 2 }, (_, i) => i);
  switch (name) {
    case "workspace":
      return workspace ? [1] : [0];
    case "dirty":
      return workspace ? [0, 1] : [0];
    case "merged":
      return hasWork ? [0, 1] : [0];
    case "protected":
      return ran ? [0, 1] : [0];
    case "commits":
    case "new_commits":
      return hasWork ? range : [0];
    case "children_done":
    case "children_failed":
      return fanned ? range : [0];
    case "open_findings":
    case "noted_findings":
    case "quiet_rounds":
    case "approved_findings":
      return reviewed ? range : [0];
    default:
      return [0];
  }
}

function documentFor(workflow: Workflow, choose: Choose): TaskDocument {
  const empty = parseTaskDocument("");
  const byHeading = {
    get(heading: string) {
      const texts = sectionTexts(workflow, heading);
      const index = choose(`## ${heading}`, [0, ...texts.map((_, i) => i + 1)]);
      const body = texts[index - 1];
      return body === undefined ? undefined : parseTaskDocument(`## ${heading}\n${body}\n`).byHeading.get(heading);
    },
  } as unknown as TaskDocument["byHeading"];
  return { ...empty, byHeading };
}

function after(place: Place, { task, effects, events }: Changed): Place {
  const acts = effects.map(({ action }) => action);
  const last = acts.findLast((action) => action === "acquire_workspace" || action === "release_workspace");
  return {
    task,
    workspace: last === undefined ? place.workspace : last === "acquire_workspace",
    ran: place.ran || acts.includes("spawn_agent"),
    fanned: place.fanned || acts.includes("start_children"),
    reviewed: place.reviewed || events.some(({ type }) => type === "finding.reviewed"),
    owes: mayFail(effects, place, task),
  };
}

function mayFail(effects: readonly Effect[], place: Place, task: Task): boolean {
  if (task.phase === "over") return false;
  if (effects.length > 0)
    return effects.some(({ action }) => !["notify_agent", "kill_agent", "notify"].includes(action));
  return place.owes && place.task.phase === task.phase;
}

/** Without everything that only counts upwards or is text for people. */
function rename(place: Place): Place {
  const { task } = place;
  const runs = Object.fromEntries(
    Object.keys(task.runs)
      .sort()
      .map((name) => {
        const { mode, report } = task.runs[name] as Task["runs"][string];
        return [name, { key: `${name}#1`, mode, ...(report === undefined ? {} : { report }) }];
      }),
  );
  const { said: _, refused: __, at: ___, ...wait } = task.wait;
  return {
    ...place,
    task: {
      ...task,
      runs,
      wait,
      entry: 1,
      runCount: 0,
      previousStatus: "",
      sessions: {},
      spent: { sections: [], head: "" },
      log: [],
      reason: "",
      held: task.held && { ...task.held, reason: "" },
      ledger: undefined,
      documents: undefined,
      judged: undefined,
    },
  };
}
