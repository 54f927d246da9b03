import { type Keys, ownBindings } from "./bindings.ts";
import { filled, safeLine, widthOf, wrapText } from "./cells.ts";
import { detailLines } from "./detail-lines.ts";
import { type Describe, type Entry, entriesOf, widthsFor } from "./entries.ts";
import { clock } from "./figures.ts";
import { overlayLines } from "./overlay-lines.ts";
import { type ScreenName, type State, screenNames } from "./state.ts";
import type { Style } from "./style.ts";
import { headOf } from "./task-row.ts";

export const minColumns = 80;
export const minRows = 24;
/** From so many columns on, the detail is beside the list. */
const wideColumns = 120;

/** Where everything is. */
export interface Layout {
  readonly listWidth: number;
  readonly listHeight: number;
  readonly detailWidth: number;
  readonly isBeside: boolean;
}

export function layoutOf({ columns, rows, share, focus }: State): Layout {
  const isBeside = columns >= wideColumns && share > 0;
  const detailWidth = isBeside ? Math.floor(columns * share) - 2 : focus === "detail" ? columns - 1 : 0;
  const listWidth = isBeside ? columns - detailWidth - 2 : columns;
  return { listWidth, listHeight: Math.max(1, rows - 4), detailWidth, isBeside };
}

export function isTooSmall({ columns, rows }: Pick<State, "columns" | "rows">): boolean {
  return columns < minColumns || rows < minRows;
}

/** The whole screen: exactly as many lines as the terminal has rows, none wider than it. */
export function frameOf(state: State, keys: Keys, style: Style, describe: Describe): readonly string[] {
  const { columns, rows } = state;
  if (isTooSmall(state)) return smallFrame(columns, rows);
  const layout = layoutOf(state);
  const panel = overlayLines(state, keys, columns, layout.listHeight, style);
  const height = layout.listHeight - panel.length;
  const body = height <= 0 ? [] : bodyOf(state, layout, height, style, describe);
  return [
    header(state, columns, style),
    columnHead(state, layout, style),
    ...body,
    ...panel,
    noticeLine(state, keys, columns, style),
    keyLine(state, keys, columns, style),
  ].slice(0, rows);
}

function smallFrame(columns: number, rows: number): readonly string[] {
  const said = `Signalbox needs ${minColumns} × ${minRows} characters; this terminal has ${columns} × ${rows}. q quits.`;
  return wrapText(said, columns)
    .slice(0, rows)
    .map((line) => filled(line, columns));
}

function bodyOf(state: State, layout: Layout, height: number, style: Style, describe: Describe): readonly string[] {
  const { listWidth, detailWidth, isBeside } = layout;
  if (!isBeside && state.focus === "detail")
    return detailLines(state, detailWidth, height, style, describe).map((line) => ` ${line}`);
  const list = listLines(state, listWidth, height, style, describe);
  if (!isBeside) return list;
  const detail = detailLines(state, detailWidth, height, style, describe);
  const bar = style.paint("quiet", style.bar);
  return list.map((line, at) => `${line}${bar} ${detail[at] ?? ""}`);
}

function listLines(state: State, width: number, height: number, style: Style, describe: Describe): readonly string[] {
  const entries = entriesOf(state, describe);
  const place = state.places[state.screen];
  const blank = " ".repeat(width);
  if (entries.length === 0)
    return emptyLines(state, width, style)
      .concat(Array.from({ length: height }, () => blank))
      .slice(0, height);
  // A panel over the list never hides the line under the cursor.
  const top = Math.max(place.top, place.at - height + 1);
  return Array.from({ length: height }, (_, row) => {
    const entry = entries[top + row];
    if (entry === undefined) return blank;
    const line = entry.draw(width, style, state);
    return entry.key === place.key ? withCursor(entry, line, state, style) : line;
  });
}

/** The cursor is a mark besides a colour. */
function withCursor({ isHead }: Entry, line: string, { focus }: State, style: Style): string {
  const rest = line.startsWith(" ") ? line.slice(1) : line.trimEnd();
  const marked = filled(style.mark("cursor") + rest, widthOf(line));
  return isHead || focus === "detail" ? marked : style.cursor(marked);
}

const empty: Readonly<Record<ScreenName, readonly string[]>> = {
  tasks: ["No task is here.", "", "c creates one, and its agent starts."],
  agents: ["No agent is running."],
  events: ["Nothing has happened yet."],
  problems: [
    "There are no problems.",
    "",
    "What agents ask, and what waits for your approval, is among the tasks: g t",
  ],
  merges: ["No merge waits, and none has ended."],
  usage: ["No agent has used anything yet."],
};

function emptyLines(state: State, width: number, style: Style): readonly string[] {
  const { filter, isLoaded, screen } = state;
  const isFiltered = filter.q !== "" || filter.label !== undefined || filter.group !== undefined;
  const isUnread =
    (screen === "merges" && state.merges === undefined) || (screen === "usage" && state.usage === undefined);
  const lines =
    !isLoaded || isUnread
      ? ["Reading …"]
      : screen === "tasks" && isFiltered
        ? ["No task matches the search or the filter.", "", "Escape shows all again."]
        : empty[screen];
  return ["", ...lines].map((line) => filled(style.paint("quiet", `   ${line}`), width, "left", style.more));
}

const titles: Readonly<Record<ScreenName, string>> = {
  ...{ tasks: "Tasks", agents: "Agents", events: "Events", problems: "Problems", merges: "Merge line", usage: "Usage" },
};

function header(state: State, columns: number, style: Style): string {
  const { counts, goneSince, screen, filter } = state;
  const titleOf = (name: ScreenName) => (name === "merges" && columns < 100 ? "Merges" : titles[name]);
  const names = screenNames.map((name) =>
    name === screen ? style.paint("title", `[${titleOf(name)}]`) : style.paint("quiet", ` ${titleOf(name)} `),
  );
  const waiting = counts?.["needs-me"] ?? 0;
  const figures =
    goneSince !== undefined
      ? style.paint("bad", `${style.mark("old")} old since ${clock(new Date(goneSince).toISOString())}: no daemon`)
      : counts === undefined
        ? ""
        : [
            style.paint(waiting > 0 ? "ask" : "quiet", `${waiting} need you`),
            style.paint("quiet", `${counts.running} running`),
            style.paint("quiet", `${counts.queued} queued`),
          ].join(" · ");
  const where = [filter.project, filter.group, filter.label === undefined ? undefined : `label ${filter.label}`]
    .filter((each) => each !== undefined)
    .map(safeLine)
    .join(" · ");
  const left = `${names.join("")} ${style.paint("accent", where)}`;
  const room = columns - widthOf(figures) - 1;
  return `${filled(left, Math.max(0, room), "left", style.more)}${filled(figures, columns - Math.max(0, room), "right", style.more)}`;
}

function columnHead(state: State, layout: Layout, style: Style): string {
  const { listWidth, detailWidth, isBeside } = layout;
  if (!isBeside && state.focus === "detail") return style.paint("quiet", style.rule.repeat(state.columns));
  const { top } = state.places[state.screen];
  const isTable = state.screen === "tasks" && state.tasks.length > 0;
  const head = isTable
    ? headOf(widthsFor(state.tasks, listWidth), style)
    : style.paint("quiet", style.rule.repeat(listWidth));
  // Lines above are hidden where others came, so that nothing moves under the cursor.
  const above = top > 0 ? ` ${top} more above` : "";
  const shown = `${filled(head, listWidth - above.length)}${style.paint("ask", above)}`;
  if (!isBeside) return shown;
  return `${shown}${style.paint("quiet", `${style.bar} ${style.rule.repeat(detailWidth)}`)}`;
}

/** What was just done with the command that it was; or what the line under the cursor asks, with its command. */
function noticeLine(state: State, keys: Keys, columns: number, style: Style): string {
  const { notice, goneSince, pending } = state;
  if (pending !== "") {
    const next = ownBindings.filter(({ id }) => keys.shown.get(id)?.startsWith(`${pending} `));
    const shown = next.map(({ id, label }) => `${keys.shown.get(id)?.slice(pending.length + 1)} ${label}`);
    return filled(`${style.paint("strong", pending)} ${shown.join(" · ")}`, columns, "left", style.more);
  }
  if (notice !== undefined) {
    const command = notice.command === "" ? "" : `  ${style.paint("quiet", `$ ${safeLine(notice.command)}`)}`;
    return filled(`${style.paint(notice.role, safeLine(notice.text))}${command}`, columns, "left", style.more);
  }
  if (goneSince !== undefined)
    return filled(
      style.paint("bad", "The daemon does not answer. This is what was known last. To start it: signalbox up"),
      columns,
      "left",
      style.more,
    );
  const entry = entriesOf(state).find(({ key }) => key === state.places[state.screen].key);
  if (entry === undefined || entry.command === "") return filled("", columns);
  return filled(style.paint("quiet", `${style.mark("arrow")} ${safeLine(entry.command)}`), columns, "left", style.more);
}

/** The task's actions, those that are allowed first; then the dashboard's own keys, as many as there is room for. */
function keyLine(state: State, keys: Keys, columns: number, style: Style): string {
  const { actions, overlay } = state;
  if (overlay !== undefined)
    return filled(style.paint("quiet", overlayKeys[overlay.kind]), columns, "left", style.more);
  const swapped = new Map([...keys.actions].map(([pressed, key]) => [key, pressed]));
  const offered = (actions?.list ?? []).filter(({ key }) => key !== "");
  const parts = [
    ...offered
      .filter(({ allowed }) => allowed)
      .map(({ key, name, to }) => ({ key, text: shortName(name, to), role: "strong" as const })),
    ...offered
      .filter(({ allowed }) => !allowed)
      .map(({ key, name, to }) => ({ key, text: shortName(name, to), role: "quiet" as const })),
  ];
  const own = `${keys.shown.get("peek")} peek · ${keys.shown.get("help")} help · ${keys.shown.get("quit")} quit`;
  let line = "";
  const room = columns - own.length - 3;
  for (const { key, text, role } of parts) {
    const part = `${style.paint(role, swapped.get(key) ?? key)} ${role === "quiet" ? style.paint("quiet", text) : text}`;
    const longer = line === "" ? part : `${line}  ${part}`;
    if (widthOf(longer) > room) break;
    line = longer;
  }
  return `${filled(line, Math.max(0, columns - own.length))}${style.paint("quiet", own)}`;
}

const shortName = (name: string, to: string) => (name === "move" ? `to ${safeLine(to)}` : name);

const overlayKeys = {
  help: "type to search · Up Down scroll · Escape closes",
  command: "Enter runs it in this terminal · Tab completes · Escape closes",
  search: "Enter keeps the search · Escape shows all",
  create: "Enter creates it · Alt+Enter new line · Ctrl+G editor · Escape closes",
  confirm: "y does it · any other key does not",
  say: "Enter sends · Alt+Enter new line · Ctrl+G editor · Escape closes",
  peek: "Enter sends · Alt+Enter new line · Ctrl+G editor · Escape closes",
  pick: "Up Down choose · Enter takes it · Escape closes",
  text: "Up Down scroll · Escape closes",
} as const;
