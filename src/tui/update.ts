import { actionKeys, acts } from "../api/act.ts";
import { createKeys, type Keys, type OwnId } from "./bindings.ts";
import { layoutOf } from "./frame.ts";
import type { Input } from "./key-reader.ts";
import { emptyLine } from "./line-editor.ts";
import { overlayInput } from "./overlay-input.ts";
import { entryUnder, moved, nextWaiting, placedAtLine, settled, taskUnder, withDetail } from "./place.ts";
import { type Effect, nameOf, type Option, type ScreenName, type State, type Tab, tabs, taskOf } from "./state.ts";

export type Updated = readonly [State, readonly Effect[]];

/** The state after an input, and the effects that the input asks for. */
export function update(state: State, input: Input, keys: Keys = createKeys()): Updated {
  const [next, effects] = taken(state, input, keys);
  return [next === state ? state : withDetail(next), effects];
}

function taken(state: State, input: Input, keys: Keys): Updated {
  if (input.kind === "mouse") return [byMouse(state, input), []];
  if (input.kind === "key" && input.key === "Ctrl+Z") return [state, [{ do: "suspend" }]];
  if (state.overlay !== undefined) return overlayInput(spoken(state), state.overlay, input);
  // Pasted text is never read as keys.
  if (input.kind !== "key") return [state, []];
  const { key } = input;
  if (state.typedAt !== undefined) {
    // The field did not open: what follows is text that was meant for it.
    if (key === "Escape") return [{ ...spoken(state), notice: undefined }, []];
    const isText = state.now - state.typedAt < typingPause && key !== "Ctrl+C";
    return isText ? [ignored(state), []] : taken(spoken(state), input, keys);
  }
  const quiet =
    state.notice === undefined && state.pending === "" ? state : { ...state, notice: undefined, pending: "" };
  const pressed = state.pending === "" ? key : `${state.pending} ${key}`;
  const own = keys.own.get(pressed);
  if (own !== undefined) return doOwn(quiet, own);
  if (state.pending !== "") return [said(quiet, `"${pressed}" is no key. ? shows all.`), []];
  if (keys.prefixes.has(key)) return [{ ...quiet, pending: key }, []];
  return byAction(quiet, keys.actions.get(key) ?? key);
}

/** As long as keys follow each other faster than this, they are one text. */
const typingPause = 1_000;

const spoken = (state: State): State => (state.typedAt === undefined ? state : { ...state, typedAt: undefined });

/** The key is dropped. What was said before, such as why the field did not open, stays behind that. */
function ignored(state: State): State {
  const before = state.notice?.text ?? "";
  const text = before.startsWith(ignoring) ? before : `${ignoring} ${before}`.trim();
  return { ...state, typedAt: state.now, notice: { text, role: state.notice?.role ?? "quiet", command: "" } };
}

const ignoring = "Keys are ignored until you pause for a second, or press Escape.";

/** The keys of actions that open a field for text. */
const textKeys: ReadonlySet<string> = new Set(
  Object.entries(actionKeys).flatMap(([name, key]) =>
    Object.hasOwn(acts, name) && acts[name]?.asksText !== undefined && key !== "" ? [key] : [],
  ),
);

function byAction(before: State, key: string): Updated {
  const state = textKeys.has(key) ? { ...before, typedAt: before.now } : before;
  const entry = entryUnder(state);
  if (key === "Enter" && entry !== undefined && entry.task === "") {
    if (entry.key === "group:over") return [toggled(state), []];
    const [, ...words] = entry.command.split(" ");
    return words.length === 0 ? [state, []] : [state, [{ do: "command", words, isQuiet: false }]];
  }
  const tasks =
    state.chosen.size > 0 ? [...state.chosen] : entry === undefined || entry.task === "" ? [] : [entry.task];
  if ([...key].length > 1 && key !== "Enter") return [said(state, `${key} does nothing here. ? shows the keys.`), []];
  if (state.goneSince !== undefined)
    return [said(state, "The daemon does not answer, so nothing can be done: signalbox up"), []];
  return tasks.length === 0 ? [said(state, "No task is chosen."), []] : [state, [{ do: "press", key, tasks }]];
}

const toggled = (state: State) => settled({ ...state, isUnfolded: !state.isUnfolded });

function doOwn(state: State, id: OwnId): Updated {
  const page = Math.max(1, layoutOf(state).listHeight - 2);
  switch (id) {
    case "down":
      return scrolled(state, 1);
    case "up":
      return scrolled(state, -1);
    case "page-down":
      return scrolled(state, page);
    case "page-up":
      return scrolled(state, -page);
    case "first":
      return scrolled(state, Number.NEGATIVE_INFINITY);
    case "last":
      return scrolled(state, Number.POSITIVE_INFINITY);
    case "left":
      return [sideways(state, -1), []];
    case "right":
      return [sideways(state, 1), []];
    case "peek":
      return peek(state);
    case "next-waiting":
      return [nextWaiting(state, 1), []];
    case "previous-waiting":
      return [nextWaiting(state, -1), []];
    case "next-pane":
      return [pane(state, 1), []];
    case "previous-pane":
      return [pane(state, -1), []];
    case "search":
      return [
        {
          ...onScreen(state, "tasks"),
          focus: "list",
          overlay: { kind: "search", line: { text: state.filter.q, cursor: state.filter.q.length } },
        },
        [],
      ];
    case "filter":
      return [
        { ...onScreen(state, "tasks"), overlay: { kind: "pick", title: "Show", options: filterOptions(state), at: 0 } },
        [],
      ];
    case "create":
      return [{ ...state, overlay: { kind: "create", line: emptyLine } }, []];
    case "select":
      return [select(state), []];
    case "copy":
      return [copy(state), []];
    case "command":
      return [{ ...state, overlay: { kind: "command", line: emptyLine, offers: [] } }, [{ do: "offers", text: "" }]];
    case "width":
      return [wider(state), []];
    case "plain":
      return [state, [{ do: "plain" }]];
    case "done":
      return [
        {
          ...state,
          overlay: { kind: "text", title: "Done here, and how to take it back", lines: deedLines(state), scroll: 0 },
        },
        [],
      ];
    case "help":
      return [{ ...state, overlay: { kind: "help", line: emptyLine, scroll: 0 } }, []];
    case "redraw":
      return [state, [{ do: "redraw" }]];
    case "leave":
      return leave(state);
    case "quit":
      return [state, [{ do: "quit" }]];
    default:
      return [onScreen(state, id), []];
  }
}

function onScreen(state: State, screen: ScreenName): State {
  return state.screen === screen ? state : settled({ ...state, screen, focus: "list" });
}

function scrolled(state: State, by: number): Updated {
  const { detail, focus } = state;
  if (focus === "list" || detail === undefined) {
    const next = moved(state, by);
    const isLast = next.places[next.screen].key === state.places[state.screen].key && by > 0;
    return [next, isLast ? [{ do: "more" }] : []];
  }
  // A terminal is scrolled from its end.
  const step = detail.tab === "terminal" ? -by : by;
  const scroll = Math.min(maxScroll, Math.max(0, detail.scroll + step));
  const next: State = { ...state, detail: { ...detail, scroll } };
  return [next, detail.tab === "terminal" && step > 0 ? [{ do: "scrollback" }] : []];
}

const maxScroll = 1_000_000;

function sideways(state: State, step: 1 | -1): State {
  const { detail, focus } = state;
  if (focus === "list" || detail === undefined) return state;
  if (detail.tab === "diff" && detail.column === 0 && detail.files !== undefined) {
    const file = Math.max(0, Math.min(detail.files.length - 1, detail.file + step));
    return { ...state, detail: { ...detail, file, scroll: 0 } };
  }
  return { ...state, detail: { ...detail, column: Math.max(0, detail.column + 20 * step) } };
}

function peek(state: State): Updated {
  const entry = entryUnder(state);
  if (entry?.key === "group:over") return [toggled(state), []];
  const task = entry?.task ?? "";
  if (task === "" || taskOf(state, task) === undefined)
    return [{ ...said(state, "No task is here to peek at."), typedAt: state.now }, []];
  return [{ ...state, overlay: { kind: "peek", task, line: emptyLine, screen: [] } }, [{ do: "peek", task }]];
}

/** The list, then the tabs of the detail, then the list again. */
function pane(state: State, step: 1 | -1): State {
  const { detail, focus } = state;
  if (detail === undefined) return said(state, "No task is chosen.");
  const around = 1 + tabs.length;
  const at = focus === "list" ? 0 : 1 + tabs.indexOf(detail.tab);
  const next = (at + step + around) % around;
  const tab = tabs[next - 1];
  return tab === undefined ? { ...state, focus: "list" } : onTab(state, tab);
}

/** Shows this tab of the task under the cursor. */
export function onTab(state: State, tab: Tab): State {
  const { detail } = state;
  return detail === undefined ? state : { ...state, focus: "detail", detail: { ...detail, tab, scroll: 0, column: 0 } };
}

function select(state: State): State {
  const task = taskUnder(state);
  if (task === "") return said(state, "No task is here to select.");
  const chosen = new Set(state.chosen);
  if (!chosen.delete(task)) chosen.add(task);
  const next = moved({ ...state, chosen }, 1);
  return said(
    next,
    chosen.size === 0
      ? "No task is selected."
      : `${chosen.size} selected: a task's key does it for all; Escape ends that.`,
  );
}

function copy(state: State): State {
  const entry = entryUnder(state);
  const task = taskOf(state, entry?.task ?? "");
  const option = (label: string, text: string): readonly Option[] =>
    text === "" ? [] : [{ label: `${label}: ${text}`, effect: { do: "copy", text } }];
  const options = [
    ...option("id", task?.id ?? ""),
    ...option("name", task === undefined ? "" : nameOf(task)),
    ...option("branch", task?.branch ?? ""),
    ...option("command", entry?.command || (task === undefined ? "" : `signalbox task explain ${task.id}`)),
    ...option("path", task?.workspace ?? ""),
    ...option("pull request", task?.prUrl ?? ""),
  ];
  return options.length === 0
    ? said(state, "There is nothing here to copy.")
    : { ...state, overlay: { kind: "pick", title: "Copy", options, at: 0 } };
}

function filterOptions(state: State): readonly Option[] {
  const labels = [...new Set(state.tasks.flatMap((task) => task.labels))].sort();
  const option = (label: string, filter: State["filter"] | object): Option => ({
    label,
    effect: { do: "filter", filter },
  });
  return [
    option("everything", {}),
    ...state.projects.map((project) => option(`project ${project}`, { project })),
    ...(["needs-me", "running", "queued", "over"] as const).map((group) =>
      option(`only ${group}`, { ...ofProject(state), group }),
    ),
    ...labels.map((label) => option(`label ${label}`, { ...ofProject(state), label })),
  ];
}

const ofProject = ({ filter: { project } }: State) => (project === undefined ? {} : { project });

const shares = [0.45, 0.6, 0.35, 0];

function wider(state: State): State {
  const share = shares[(shares.indexOf(state.share) + 1) % shares.length] ?? 0.45;
  const next: State = { ...state, share, focus: "list" };
  return state.columns < 120
    ? said(state, "From 120 columns on the detail is beside the list; here Tab shows it.")
    : next;
}

function leave(state: State): Updated {
  if (state.focus === "detail") return [{ ...state, focus: "list" }, []];
  if (state.chosen.size > 0) return [{ ...state, chosen: new Set() }, []];
  const { filter } = state;
  const isFiltered = filter.q !== "" || filter.label !== undefined || filter.group !== undefined;
  return isFiltered ? [state, [{ do: "filter", filter: ofProject(state) }]] : [onScreen(state, "tasks"), []];
}

function byMouse(state: State, { what, x, y }: Extract<Input, { kind: "mouse" }>): State {
  if (state.overlay !== undefined) return state;
  const { listWidth, isBeside } = layoutOf(state);
  const inDetail = isBeside ? x >= listWidth : state.focus === "detail";
  const focused: State = {
    ...state,
    focus: inDetail && state.detail !== undefined ? "detail" : "list",
    notice: undefined,
  };
  if (what !== "press") return scrolled(focused, what === "wheel-down" ? 3 : -3)[0];
  return inDetail ? focused : placedAtLine(focused, y - 2);
}

function deedLines({ deeds }: State): readonly string[] {
  if (deeds.length === 0) return ["Nothing was done here yet."];
  return deeds
    .toReversed()
    .flatMap(({ what, command, back }) => [what, `  $ ${command}`, `  To take it back: ${back}`, ""]);
}

/** The commands of what was done, for `:log`. */
export function logLines({ deeds }: State): readonly string[] {
  return deeds.length === 0
    ? ["Nothing was done here yet."]
    : deeds.map(({ at, command }) => `${new Date(at).toISOString().slice(11, 19)}  $ ${command}`);
}

export function said(state: State, text: string): State {
  return { ...state, notice: { text, role: "quiet", command: "" } };
}
