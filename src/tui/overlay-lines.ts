import type { Keys } from "./bindings.ts";
import { ownBindings } from "./bindings.ts";
import { filled, safeLine, safeLines, safeText, wrapText } from "./cells.ts";
import { drawLine, type Line } from "./line-editor.ts";
import { type Overlay, type State, taskOf } from "./state.ts";
import type { Style } from "./style.ts";

/** The lines of what is open above the bottom lines; none if nothing is. At most `height`. */
export function overlayLines(
  state: State,
  keys: Keys,
  columns: number,
  height: number,
  style: Style,
): readonly string[] {
  const { overlay } = state;
  if (overlay === undefined) return [];
  const lines = linesOf(overlay, state, keys, columns - 2, Math.max(1, height - 1), style);
  const title = titleOf(overlay);
  const rule = style.paint(
    "quiet",
    `${style.rule.repeat(2)} ${title} ${style.rule.repeat(Math.max(0, columns - title.length - 4))}`,
  );
  return [filled(rule, columns), ...lines.map((line) => filled(` ${line}`, columns, "left", style.more))].slice(
    0,
    height,
  );
}

function titleOf(overlay: Overlay): string {
  switch (overlay.kind) {
    case "help":
      return "Keys";
    case "command":
      return "Command";
    case "search":
      return "Search";
    case "create":
      return "New task";
    case "confirm":
      return safeLine(overlay.ask.action.label);
    case "say":
      return safeLine(overlay.ask.action.label);
    case "peek":
      return "Peek";
    case "pick":
    case "text":
      return safeLine(overlay.title);
  }
}

function linesOf(
  overlay: Overlay,
  state: State,
  keys: Keys,
  width: number,
  height: number,
  style: Style,
): readonly string[] {
  switch (overlay.kind) {
    case "help":
      return [
        field("/", overlay.line, width),
        ...window(helpLines(state, keys, overlay.line.text, style), overlay.scroll, height - 1),
      ];
    case "command": {
      const offers = overlay.offers.slice(0, 8).map(safeLine).join("  ");
      return [style.paint("quiet", offers), field("signalbox ", overlay.line, width)].slice(offers === "" ? 1 : 0);
    }
    case "search":
      return [field("/", overlay.line, width)];
    case "create":
      return [
        style.paint(
          "quiet",
          `In ${state.filter.project ?? "the project of this folder"}. What is to be done, in one line:`,
        ),
        field("> ", overlay.line, width),
      ];
    case "confirm":
      return [
        ...overlay.lines
          .flatMap((line) => safeLines(line).flatMap((each) => wrapText(each, width)))
          .slice(0, Math.max(1, height - 2)),
        "",
        style.paint("ask", "Press y to do it, any other key to leave it."),
      ];
    case "say":
      return [overlay.prompt === "" ? "" : safeLine(overlay.prompt), field("> ", overlay.line, width)];
    case "peek":
      return peekLines(overlay, state, width, height, style);
    case "pick":
      return window(
        overlay.options.map(({ label }, at) =>
          at === overlay.at ? style.cursor(`${style.mark("cursor")} ${safeLine(label)}`) : `  ${safeLine(label)}`,
        ),
        Math.max(0, overlay.at - height + 1),
        height,
      );
    case "text":
      return window(
        overlay.lines.flatMap((line) => wrapText(safeText(line), width)),
        overlay.scroll,
        height,
      );
  }
}

function field(prompt: string, line: Line, width: number): string {
  return `${prompt}${drawLine(line, Math.max(1, width - prompt.length))}`;
}

const window = (lines: readonly string[], top: number, height: number) => {
  const first = Math.max(0, Math.min(top, lines.length - height));
  return lines.slice(first, first + height);
};

/** What the task asks, the end of its agent's screen, and a field to reply. */
function peekLines(
  overlay: Extract<Overlay, { kind: "peek" }>,
  state: State,
  width: number,
  height: number,
  style: Style,
): readonly string[] {
  const task = taskOf(state, overlay.task);
  if (task === undefined) return [style.paint("quiet", "The task is no longer listed.")];
  const asked = task.needs.flatMap(({ text }) => text.split("\n").flatMap((line) => wrapText(safeText(line), width)));
  const screen = overlay.screen.map((line) => style.paint("quiet", safeText(line)));
  const last =
    overlay.ask === undefined
      ? style.paint("quiet", "Nothing can be replied now.")
      : field(`${overlay.ask.action.name}> `, overlay.line, width);
  const room = Math.max(0, Math.min(height, 16) - 2);
  const shownAsk = asked.slice(0, room).map((line) => style.paint("ask", line));
  return [
    filled(
      `${style.paint("title", `${task.project}#${task.number}`)} ${safeLine(task.status)}  ${safeLine(task.doing)}`,
      width,
      "left",
      style.more,
    ),
    ...screen.slice(-Math.max(0, room - shownAsk.length)),
    ...shownAsk,
    last,
  ];
}

/** Every key of this place that the search lets pass. */
export function helpLines(state: State, keys: Keys, search: string, style: Style): readonly string[] {
  const wanted = search.toLowerCase();
  const line = (pressed: string, what: string, command = "") => ({ pressed, what, command });
  const swapped = new Map([...keys.actions].map(([pressed, key]) => [key, pressed]));
  const actions = (state.actions?.list ?? []).map(({ key, label, command, allowed, why }) =>
    line(swapped.get(key) ?? key, allowed ? label : `${label} — not now: ${why}`, command),
  );
  const own = ownBindings.map(({ id, label }) => line(keys.shown.get(id) ?? "", `${label} (${id})`));
  const section = (title: string, rows: readonly ReturnType<typeof line>[]) => {
    const found = rows.filter(({ pressed, what, command }) =>
      `${pressed} ${what} ${command}`.toLowerCase().includes(wanted),
    );
    if (found.length === 0) return [];
    return [
      style.paint("title", title),
      ...found.map(
        ({ pressed, what, command }) =>
          `${style.paint("strong", (pressed || "-").padEnd(9))} ${safeLine(what)}  ${style.paint("quiet", safeLine(command))}`,
      ),
    ];
  };
  const found = [...section("This task", actions), ...section("Here", own)];
  return found.length === 0 ? [style.paint("quiet", "No key matches.")] : found;
}
