import { type Entry, entriesOf } from "./entries.ts";
import { layoutOf } from "./frame.ts";
import { nameOf, type Place, type State, taskOf } from "./state.ts";

/** The line under the cursor; undefined if there is none. */
export function entryUnder(state: State): Entry | undefined {
  const { key } = state.places[state.screen];
  return entriesOf(state).find((entry) => entry.key === key);
}

/** The task under the cursor; empty if the line is about none. */
export function taskUnder(state: State): string {
  return entryUnder(state)?.task ?? "";
}

/** Moves the cursor by so many lines, over headings. */
export function moved(state: State, by: number): State {
  if (!state.isLoaded) return state;
  const entries = entriesOf(state);
  const at = entries.findIndex(({ key }) => key === state.places[state.screen].key);
  const aim = Math.max(0, Math.min(entries.length - 1, Math.max(at, 0) + by));
  return placedAt(state, entries, selectable(entries, aim, by < 0 ? -1 : 1));
}

/** Puts the cursor on this line of the screen, as a click does. */
export function placedAtLine(state: State, line: number): State {
  const entries = entriesOf(state);
  const at = state.places[state.screen].top + line;
  return entries[at] === undefined || entries[at].isHead ? state : placedAt(state, entries, at);
}

/** The next task that needs the person, after or before the cursor, around the end. */
export function nextWaiting(state: State, step: 1 | -1): State {
  const onTasks: State = state.screen === "tasks" ? state : settled({ ...state, screen: "tasks" });
  const entries = entriesOf(onTasks);
  const at = entries.findIndex(({ key }) => key === onTasks.places.tasks.key);
  for (let i = 1; i <= entries.length; i++) {
    const next = (at + step * i + entries.length * 2) % entries.length;
    if (taskOf(onTasks, entries[next]?.task ?? "")?.group === "needs-me") return placedAt(onTasks, entries, next);
  }
  return { ...onTasks, notice: { text: "No task needs you.", role: "quiet", command: "" } };
}

function placedAt(state: State, entries: readonly Entry[], at: number): State {
  const entry = entries[at];
  if (entry === undefined) return state;
  const { listHeight } = layoutOf(state);
  const { top } = state.places[state.screen];
  const last = Math.max(0, entries.length - listHeight);
  // The heading above the first line is seen with it.
  const first = entries[at - 1]?.isHead ? at - 1 : at;
  const shown = Math.min(first, Math.max(top, at - listHeight + 1));
  return withPlace(state, { key: entry.key, at, top: Math.max(0, Math.min(shown, last)) });
}

/** The line at `at`, or the nearest one that the cursor can be on, first in the direction of `step`; -1 without any. */
function selectable(entries: readonly Entry[], at: number, step: 1 | -1): number {
  for (let i = at; i >= 0 && i < entries.length; i += step) if (!entries[i]?.isHead) return i;
  for (let i = at; i >= 0 && i < entries.length; i -= step) if (!entries[i]?.isHead) return i;
  return -1;
}

function withPlace(state: State, place: Place): State {
  return { ...state, places: { ...state.places, [state.screen]: place } };
}

/**
 * The state after its data has changed: the line under the cursor stays where it is on the screen, whatever comes or goes
 * around it, unless that would scroll out lines that there is room for. Where it is gone, the cursor is on the one that followed it,
 * and the person is told.
 */
export function settled(state: State): State {
  const entries = entriesOf(state);
  const place = state.places[state.screen];
  // Headings may be known before the tasks below them.
  if (entries.length === 0 || !state.isLoaded) return withPlace(state, { key: "", top: 0, at: 0 });
  const at = entries.findIndex(({ key }) => key === place.key);
  if (at >= 0) {
    const top = withoutGap(state, entries.length, place.top + at - place.at);
    return at === place.at && top === place.top ? state : withPlace(state, { ...place, at, top });
  }
  const next = selectable(entries, place.key === "" ? 0 : Math.min(place.at, entries.length - 1), 1);
  const entry = entries[next];
  if (entry === undefined) return withPlace(state, { key: "", top: 0, at: 0 });
  const top = withoutGap(state, entries.length, place.top + (place.key === "" ? 0 : next - place.at));
  return withPlace(state, { key: entry.key, at: next, top });
}

/** The first line of the list, so that none is scrolled out while lines of the screen are blank. */
function withoutGap(state: State, count: number, top: number): number {
  const last = count - layoutOf(state).listHeight;
  return last <= 0 ? Math.max(last, Math.min(top, 0)) : Math.min(top, last);
}

/** So long after the last key the person is not about to press another. */
const restTime = 10_000;

/** The state at this time: once the person rests, lines that were hidden above so that nothing moved are shown again. */
export function atTime(state: State, now: number): State {
  const place = state.places[state.screen];
  const { listHeight } = layoutOf(state);
  const top = place.at < listHeight ? 0 : place.top;
  const isResting = now - state.touchedAt >= restTime && state.overlay === undefined;
  return { ...(isResting && place.top !== top ? withPlace(state, { ...place, top }) : state), now };
}

/** Says that the task under the cursor was deleted. `before` is the state in which it was still there. */
export function toldGone(before: State, after: State): State {
  const { key } = before.places[before.screen];
  const task = taskOf(before, key);
  if (before.screen !== "tasks" || task === undefined || taskOf(after, key) !== undefined) return after;
  return {
    ...after,
    notice: { text: `${nameOf(task)} is no longer here. This is the next one.`, role: "quiet", command: "" },
  };
}

/** The detail follows the cursor. Its tab stays. */
export function withDetail(state: State): State {
  const task = taskUnder(state);
  const { detail, actions } = state;
  const isKnown = task !== "" && taskOf(state, task) !== undefined;
  const known = actions?.task.id === task ? actions : undefined;
  if (!isKnown) {
    const isSame = detail === undefined && known === actions && state.focus === "list";
    return isSame ? state : { ...state, detail: undefined, actions: known, focus: "list" };
  }
  if (detail?.task === task && known === actions) return state;
  const fresh = {
    task,
    tab: detail?.tab ?? ("explain" as const),
    scroll: 0,
    column: 0,
    file: 0,
    patches: {},
    problems: {},
  };
  return { ...state, detail: detail?.task === task ? detail : fresh, actions: known };
}
