import type { Reason } from "../engine/decision.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import { isJsonObject } from "../json.ts";
import type { Store } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { cutText } from "../text.ts";

/** How many refused requests of agents are stored for each stay of a task. */
const maxStored = 20;
const maxText = 500;
const maxReasonText = 2_000;
const maxItems = 20;
const maxDepth = 4;

/** A request as it was refused: one that the engine decides, or a route's name. */
export type Refused = Request | { readonly kind: string; readonly actor: { readonly role: string } };

/** Records refused requests. Agents cannot fill a history with them: long values are cut, and repetitions are counted. */
export interface Refusals {
  /** Adds a refusal to the task's history. Beyond the limit of a stay, an agent's refusal is only counted. */
  note(task: Pick<Task, "id" | "entry">, request: Refused, reasons: readonly Reason[], by?: string): Promise<void>;
  /** How many refusals of the task's present stay were only counted, since the daemon started. */
  notStored(task: Pick<Task, "id" | "entry">): number;
  /** A request without a valid credential was refused. */
  stranger(): void;
  /** How many of those there were since the daemon started. */
  strangers(): number;
}

interface Stay {
  readonly entry: number;
  refused: number;
}

/** Beyond this many tasks, the one that was refused longest ago is forgotten. */
const maxTasks = 1_000;

export function createRefusals({ store, clock }: { readonly store: Store; readonly clock: Clock }): Refusals {
  const stays = new Map<string, Stay>();
  let strangers = 0;
  const stayOf = ({ id, entry }: Pick<Task, "id" | "entry">): Stay => {
    const known = stays.get(id);
    const stay = known?.entry === entry ? known : { entry, refused: 0 };
    stays.delete(id);
    stays.set(id, stay);
    const [oldest] = stays.keys();
    if (stays.size > maxTasks && oldest !== undefined) stays.delete(oldest);
    return stay;
  };
  return {
    async note(task, request, reasons, by = actorOf(request)) {
      const told = reasons.slice(0, maxItems).map(cutReason);
      const add = (kept: readonly Reason[]) => {
        const data = { request: bounded(request), reasons: kept };
        return store.addEvents(task.id, [{ type: "request.rejected", by, data, set: {} }], clock.now());
      };
      // A person is no flood, and wants to see every refusal.
      if (by === "human" || by === "engine") return add(told);
      const stay = stayOf(task);
      stay.refused++;
      if (stay.refused > maxStored + 1) return;
      await add(stay.refused > maxStored ? onlyCounted(told) : told);
    },
    notStored({ id, entry }) {
      const stay = stays.get(id);
      return stay?.entry === entry ? Math.max(0, stay.refused - maxStored) : 0;
    },
    stranger() {
      strangers++;
    },
    strangers: () => strangers,
  };
}

function cutReason({ code, text, fix }: Reason): Reason {
  return { code, text: cutText(text, maxReasonText), fix: cutText(fix, maxReasonText) };
}

/** Says in history that the refusals after this one are missing there. */
function onlyCounted([first, ...rest]: readonly Reason[]): readonly Reason[] {
  const text = "Further refused requests of agents are only counted while the task stays in this state.";
  return first === undefined ? [] : [{ ...first, text: `${first.text} ${text}` }, ...rest];
}

function actorOf(request: Refused): string {
  return "actor" in request ? request.actor.role : "engine";
}

/** A value with its texts, lists and objects cut to sizes that fit into a history. */
export function bounded(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cutText(value, maxText);
  if (Array.isArray(value)) {
    const kept = value.slice(0, depth < maxDepth ? maxItems : 0).map((each) => bounded(each, depth + 1));
    const left = value.length - kept.length;
    return left === 0 ? kept : [...kept, `… and ${left} more`];
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).slice(0, depth < maxDepth ? maxItems : 0);
  return Object.fromEntries(entries.map(([key, each]) => [cutText(key, maxText), bounded(each, depth + 1)]));
}
