import type { Input } from "./key-reader.ts";
import { edited, type Line, lineOf } from "./line-editor.ts";
import { moved, settled } from "./place.ts";
import type { Effect, Overlay, State } from "./state.ts";

type Updated = readonly [State, readonly Effect[]];
type Of<Kind extends Overlay["kind"]> = Extract<Overlay, { kind: Kind }>;

/** What an input does while something is open over the list. */
export function overlayInput(state: State, overlay: Overlay, input: Input): Updated {
  const key = input.kind === "key" ? input.key : "";
  if (overlay.kind === "confirm") return answered(state, overlay, key);
  if (key === "Ctrl+C") return [closed(state), []];
  if (key === "Escape" && overlay.kind !== "search") return [closed(state), []];
  switch (overlay.kind) {
    case "search":
      return searched(state, overlay, input, key);
    case "command":
      return commanded(state, overlay, input, key);
    case "create":
      if (key === "Enter")
        return overlay.line.text.trim() === ""
          ? [state, []]
          : [closed(state), [{ do: "create", text: overlay.line.text }]];
      return typed(state, overlay, input, key);
    case "say":
    case "peek":
      if (key === "Enter" && overlay.ask !== undefined)
        return overlay.line.text.trim() === ""
          ? [
              {
                ...state,
                notice: { text: "Write something first, or leave with Escape.", role: "quiet", command: "" },
              },
              [],
            ]
          : [closed(state), [{ do: "perform", ask: overlay.ask, text: overlay.line.text }]];
      return typed(state, overlay, input, key);
    case "pick":
      return picked(state, overlay, key);
    case "help": {
      const line = edited(overlay.line, input);
      if (line !== undefined) return [{ ...state, overlay: { ...overlay, line, scroll: 0 } }, []];
      return [{ ...state, overlay: { ...overlay, scroll: Math.max(0, overlay.scroll + stepOf(key)) } }, []];
    }
    case "text":
      if (key === "q") return [closed(state), []];
      return [{ ...state, overlay: { ...overlay, scroll: Math.max(0, overlay.scroll + stepOf(key)) } }, []];
  }
}

/** Only `y` does it, and only once the question was on the screen. */
function answered(state: State, { ask, isArmed }: Of<"confirm">, key: string): Updated {
  if (!isArmed || key === "") return [state, []];
  if (key === "y") return [closed(state), [{ do: "perform", ask }]];
  return [{ ...closed(state), notice: { text: "Nothing was done.", role: "quiet", command: "" } }, []];
}

function searched(state: State, overlay: Of<"search">, input: Input, key: string): Updated {
  if (key === "Enter") return [closed(state), []];
  if (key === "Escape") return [settled({ ...closed(state), filter: { ...state.filter, q: "" } }), []];
  if (key === "Up" || key === "Down") return [moved(state, stepOf(key)), []];
  const line = edited(overlay.line, input);
  if (line === undefined) return [state, []];
  const short = { text: line.text.slice(0, maxSearch), cursor: Math.min(line.cursor, maxSearch) };
  return [settled({ ...state, overlay: { ...overlay, line: short }, filter: { ...state.filter, q: short.text } }), []];
}

/** As much as the daemon takes. */
const maxSearch = 500;

function commanded(state: State, overlay: Of<"command">, input: Input, key: string): Updated {
  const { line, offers } = overlay;
  if (key === "Enter") {
    const text = line.text.trim().replace(/^signalbox\s+/, "");
    return text === ""
      ? [closed(state), []]
      : [closed(state), [{ do: "command", words: wordsOf(text), isQuiet: false }]];
  }
  if (key === "Tab") {
    const completed = completedWith(line.text, offers);
    return [{ ...state, overlay: { ...overlay, line: lineOf(completed) } }, [{ do: "offers", text: completed }]];
  }
  const next = edited(line, input);
  if (next === undefined) return [state, []];
  return [{ ...state, overlay: { ...overlay, line: next } }, [{ do: "offers", text: next.text }]];
}

/** The typed line with its last word completed as far as all offers agree. */
function completedWith(text: string, offers: readonly string[]): string {
  const last = /\S*$/.exec(text)?.[0] ?? "";
  const fitting = offers.filter((offer) => offer.startsWith(last));
  const [first] = fitting;
  if (first === undefined) return text;
  let end = first.length;
  for (const offer of fitting) while (!offer.startsWith(first.slice(0, end))) end--;
  const word = first.slice(0, end);
  return `${text.slice(0, text.length - last.length)}${word}${fitting.length === 1 ? " " : ""}`;
}

/** A command as typed, without the quotes around its words. */
export function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => single ?? (double ?? "").replace(/\\(.)/g, "$1"),
    ),
  );
}

function typed(state: State, overlay: Of<"create"> | Of<"say"> | Of<"peek">, input: Input, key: string): Updated {
  if (key === "Ctrl+G") return [state, [{ do: "edit", text: overlay.line.text }]];
  const line: Line | undefined = edited(overlay.line, input);
  return line === undefined ? [state, []] : [{ ...state, overlay: { ...overlay, line } }, []];
}

function picked(state: State, overlay: Of<"pick">, key: string): Updated {
  const { options, at } = overlay;
  if (key === "Enter") {
    const option = options[at];
    return option === undefined ? [closed(state), []] : [closed(state), [option.effect]];
  }
  const step = key === "j" ? 1 : key === "k" ? -1 : stepOf(key);
  return [{ ...state, overlay: { ...overlay, at: Math.max(0, Math.min(options.length - 1, at + step)) } }, []];
}

function stepOf(key: string): number {
  const steps: Readonly<Record<string, number>> = {
    Up: -1,
    k: -1,
    Down: 1,
    j: 1,
    PageUp: -15,
    PageDown: 15,
    Home: -1e6,
    End: 1e6,
  };
  return steps[key] ?? 0;
}

export function closed(state: State): State {
  return { ...state, overlay: undefined };
}
