import { filled, from, safeLine, safeLines, safeText, wrapText } from "./cells.ts";
import type { Describe } from "./entries.ts";
import { age, clock } from "./figures.ts";
import type { Layout } from "./frame.ts";
import { type Detail, type State, type Tab, tabs, taskOf } from "./state.ts";
import type { Style } from "./style.ts";

/** The pane with one task: its name, the tabs, and what the chosen tab shows. */
export function detailLines(
  state: State,
  width: number,
  height: number,
  style: Style,
  describe: Describe,
): readonly string[] {
  const { detail, focus } = state;
  const task = detail && taskOf(state, detail.task);
  if (detail === undefined || task === undefined) {
    const hint = "Choose a task to see more of it.";
    return fill([filled(style.paint("quiet", ` ${hint}`), width, "left", style.more)], width, height);
  }
  const title = style.paint("title", `${task.project}#${task.number}`);
  const names = tabs.map((tab) => {
    const name = tab === "diff" && detail.files !== undefined ? `diff ${detail.files.length}` : tab;
    return tab === detail.tab
      ? style.paint(focus === "detail" ? "accent" : "strong", `[${name}]`)
      : style.paint("quiet", ` ${name} `);
  });
  const head = [
    filled(`${title} ${safeLine(task.summary)}`, width, "left", style.more),
    filled(names.join(""), width, "left", style.more),
  ];
  const room = Math.max(0, height - head.length);
  const lines = contentOf(state, detail, width, style, describe);
  const max = Math.max(0, lines.length - room);
  // A terminal is read from its end.
  const top = detail.tab === "terminal" ? Math.max(0, max - detail.scroll) : Math.min(detail.scroll, max);
  return fill([...head, ...lines.slice(top, top + room)], width, height);
}

/** The state with the detail scrolled no further than it goes. */
export function withinDetail(
  state: State,
  { detailWidth, listHeight }: Pick<Layout, "detailWidth" | "listHeight">,
  style: Style,
  describe: Describe,
): State {
  const { detail } = state;
  if (detail === undefined || detail.scroll === 0 || detailWidth === 0) return state;
  const max = Math.max(0, contentOf(state, detail, detailWidth, style, describe).length - (listHeight - 2));
  return detail.scroll <= max ? state : { ...state, detail: { ...detail, scroll: max } };
}

function fill(lines: readonly string[], width: number, height: number): readonly string[] {
  const blank = " ".repeat(width);
  return Array.from({ length: height }, (_, at) => lines[at] ?? blank);
}

/** The last content, which stays the same while what it is made of does. */
let last: { readonly parts: readonly unknown[]; readonly lines: readonly string[] } | undefined;

function contentOf(state: State, detail: Detail, width: number, style: Style, describe: Describe): readonly string[] {
  const { tab } = detail;
  const file = detail.files?.[detail.file];
  const patch = file && detail.patches[patchKey(file)];
  const own = {
    explain: detail.explain,
    "task file": detail.document,
    history: detail.events,
    findings: detail.findings,
  };
  const part = tab === "terminal" ? detail.terminal : tab === "diff" ? detail.files : own[tab];
  const problem = detail.problems[tab];
  const parts = [
    detail.task,
    tab,
    part,
    problem,
    patch,
    detail.file,
    detail.column,
    width,
    style,
    tab === "history" && state.now,
  ];
  if (last?.parts.every((each, i) => each === parts[i])) return last.lines;
  const made =
    problem !== undefined && part === undefined
      ? safeLines(problem)
          .flatMap((line) => wrapText(line, width))
          .map((line) => style.paint("bad", line))
      : part === undefined
        ? [style.paint("quiet", "Reading …")]
        : makers[tab](state, detail, width, style, describe);
  const lines = made.map((line) =>
    filled(detail.column > 0 && isLong[tab] ? from(line, detail.column) : line, width, "left", style.more),
  );
  last = { parts, lines };
  return lines;
}

/** Tabs whose lines are not wrapped, but moved sideways. */
const isLong: Readonly<Partial<Record<Tab, true>>> = { terminal: true, diff: true };

export const patchKey = ({ part, path }: { part: string; path: string }) => `${part}:${path}`;

type Maker = (state: State, detail: Detail, width: number, style: Style, describe: Describe) => readonly string[];

const makers: Readonly<Record<Tab, Maker>> = {
  explain({ now }, { explain }, width, style) {
    if (explain === undefined) return [];
    const { where, blocked, moves, next, warnings } = explain;
    const text = (said: string, indent = "") =>
      safeLines(said).flatMap((line) => wrapText(line, width - indent.length).map((each) => indent + each));
    const section = (title: string, lines: readonly string[]) =>
      lines.length === 0 ? [] : ["", style.paint("title", title), ...lines];
    return [
      ...text(where),
      ...section(
        "It waits for",
        blocked.flatMap(({ reason, fix }) => [
          ...text(reason).map((line) => style.paint("ask", line)),
          ...text(fix, "  ").map((line) => style.paint("accent", line)),
        ]),
      ),
      ...section(
        "Where it can go",
        moves.flatMap(({ to, by, open, command, missing }) => [
          `${style.paint(open ? "good" : "quiet", `${style.mark(open ? "over" : "queued")} ${safeLine(to)}`)} by ${safeLine(by.join(", "))}`,
          ...(open
            ? text(command, "    ").map((line) => style.paint("accent", line))
            : missing.flatMap((each) => text(each, "    "))),
        ]),
      ),
      ...section(
        "What happens by itself",
        next.flatMap(({ what, at }) => text(at === null ? what : `${what} (${untilText(at, now)})`)),
      ),
      ...section(
        "Likely problems",
        warnings.flatMap((each) => text(each)),
      ),
    ];
  },
  "task file"(_, { document = "" }, width, style) {
    return safeLines(document).flatMap((line) => {
      const wrapped = wrapText(line, width);
      return /^#{1,6} /.test(line) ? wrapped.map((each) => style.paint("title", each)) : wrapped;
    });
  },
  history({ now }, { events = [] }, width, style, describe) {
    if (events.length === 0) return [style.paint("quiet", "Nothing has happened yet.")];
    return events.flatMap((event) => {
      const head = `${style.paint("quiet", `${clock(event.at)} ${age(event.at, now).padStart(4)}`)} ${style.paint("accent", event.type)} ${safeLine(event.by)}`;
      const said = safeLine(describe(event));
      return [head, ...(said === "" ? [] : wrapText(said, width - 4).map((line) => `    ${line}`))];
    });
  },
  terminal(_, { terminal }, _width, style) {
    if (terminal === undefined) return [];
    const { above, lines, note, run } = terminal;
    const missing = terminal.has - above.length;
    return [
      ...(missing > 0 ? [style.paint("quiet", `${missing} earlier lines: PageUp`)] : []),
      ...above.map((line) => style.coloured(safeText(line, true))),
      ...trimmed(lines).map((line) => style.coloured(safeText(line, true))),
      ...(note === "" ? [] : [style.paint("quiet", `${run === "" ? "" : `${run}: `}${safeLine(note)}`)]),
    ];
  },
  diff(_, { files = [], file: at, patches }, _width, style) {
    if (files.length === 0) return [style.paint("quiet", "It has changed nothing yet.")];
    const file = files[at];
    const patch = file && patches[patchKey(file)];
    return [
      ...files.map((each, i) => {
        const figures = each.added === null ? "binary" : `+${each.added} -${each.deleted ?? 0}`;
        const note = each.part === "uncommitted" ? " (uncommitted)" : "";
        const line = `${i === at ? style.mark("cursor") : " "} ${figures.padStart(10)}  ${safeLine(each.path)}${note}`;
        return i === at ? style.paint("strong", line) : line;
      }),
      "",
      ...(patch === undefined
        ? [style.paint("quiet", "Reading …")]
        : safeLines(patch).map((line) => diffLine(line, style))),
    ];
  },
  findings(_, { findings }, width, style) {
    const list = findings?.findings ?? [];
    if (list.length === 0) return [style.paint("quiet", "Its reviews have found nothing.")];
    return list.flatMap(({ id, state, severity, file, line, title, evidence, note }) => {
      const role = state === "open" ? "ask" : state === "fixed" || state === "dismissed" ? "quiet" : "accent";
      const where = file === "" ? "" : ` ${safeLine(file)}${line > 0 ? `:${line}` : ""}`;
      return [
        style.paint(role, `${id} ${state} ${severity}${where}`),
        ...wrapText(safeLine(title), width - 2).map((each) => `  ${style.paint("strong", each)}`),
        ...safeLines(evidence)
          .flatMap((each) => wrapText(each, width - 2))
          .map((each) => `  ${each}`),
        ...(note === "" ? [] : wrapText(`You: ${safeLine(note)}`, width - 2).map((each) => `  ${each}`)),
        "",
      ];
    });
  },
};

/** Without the empty lines at the end of a screen. */
function trimmed(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(0, end + 1);
}

function diffLine(line: string, style: Style): string {
  if (line.startsWith("@@")) return style.paint("accent", line);
  if (/^(diff |index |\+\+\+|---|new file|deleted file|rename )/.test(line)) return style.paint("quiet", line);
  if (line.startsWith("+")) return style.paint("good", line);
  return line.startsWith("-") ? style.paint("bad", line) : line;
}

function untilText(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  if (seconds <= 0) return "now";
  return seconds < 120 ? `in ${seconds} s` : seconds < 7_200 ? `in ${Math.round(seconds / 60)} min` : `at ${clock(at)}`;
}
