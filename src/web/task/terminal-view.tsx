import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import type { RunView } from "../../api/agents.ts";
import type { ScreenView } from "../../api/terminal.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Loading, Problems } from "../ui/states.tsx";
import { Ago, Line, Screen } from "../ui/text.tsx";
import { createTerminalLink, gapOf, type TerminalLink, type TerminalState } from "./terminal-link.ts";
import { TerminalText } from "./terminal-text.tsx";
import { useIsNarrow } from "./use-is-narrow.ts";

const XtermScreen = lazy(() => import("./xterm-screen.tsx").then(({ XtermScreen }) => ({ default: XtermScreen })));

/** A run's terminal, live. The person who takes control types into it; all others watch, and never change its size. */
export function TerminalView({ run, onNext }: { run: RunView; onNext: (run: string) => void }) {
  const [link, setLink] = useState<TerminalLink>();
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try is another connection.
  useEffect(() => {
    const opened = createTerminalLink(run.task, run.key);
    setLink(opened);
    return () => opened.close();
  }, [run.task, run.key, tries]);
  if (link === undefined) return <Loading what="the terminal" />;
  return <LinkedTerminal key={run.id} {...{ link, run, onNext }} tryAgain={() => setTries(tries + 1)} />;
}

interface LinkedProps {
  link: TerminalLink;
  run: RunView;
  onNext: (run: string) => void;
  tryAgain: () => void;
}

function LinkedTerminal({ link, run, onNext, tryAgain }: LinkedProps) {
  const state = useSyncExternalStore(link.subscribe, link.state);
  const isNarrow = useIsNarrow();
  const [wantsText, setWantsText] = useState(false);
  const isText = isNarrow || wantsText;
  const { screen, output, earlier, connection } = state;
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const fromEnd = useRef(0);
  const end = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are what scrolls.
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    end.current = endOf(place, screen);
    if (isAtEnd.current) place.scrollTop = end.current;
    // Lines that came above must not move what is read.
    else if (place.scrollTop < 8) place.scrollTop = place.scrollHeight - fromEnd.current;
  }, [screen, output, earlier, state.isYours]);
  const gap = gapOf(state);
  const hasOlder = screen !== undefined && earlier.lines.length + gap < screen.above;
  const label = `Terminal of ${run.key}${state.isYours ? ", you type into it; Shift+Escape gives control back" : ""}`;
  return (
    <>
      <TerminalBar {...{ link, state, run, isText, isNarrow, setWantsText, onNext }} box={() => box.current} />
      <section
        ref={box}
        aria-label={`Terminal of ${run.key}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight } }) => {
          isAtEnd.current = scrollTop >= end.current - 24;
          fromEnd.current = scrollHeight - scrollTop;
        }}
        className={`mx-3 mb-3 min-h-48 flex-1 overflow-auto rounded-md border bg-panel p-2 ${state.isYours ? "border-accent" : "border-line"}`}
      >
        {hasOlder && (
          <Button
            look="quiet"
            className="mb-1"
            disabled={connection !== "open"}
            onClick={() => {
              isAtEnd.current = false;
              link.askEarlier("older");
            }}
          >
            Show earlier lines ({screen.above - earlier.lines.length - gap})
          </Button>
        )}
        {earlier.lines.length > 0 && <TerminalText rows={earlier.lines} />}
        {gap > 0 && (
          <Button look="quiet" className="my-1" onClick={() => link.askEarlier("newer")}>
            {gap === 1 ? "1 line has" : `${gap} lines have`} left the screen since: show
          </Button>
        )}
        {earlier.lines.length > 0 && screen !== undefined && <hr className="my-1 border-line" />}
        <Shown state={state} run={run} tryAgain={tryAgain} />
        {screen !== undefined &&
          (isText ? (
            <TerminalText rows={screen.lines} />
          ) : (
            <Suspense fallback={<TerminalText rows={screen.lines} />}>
              <XtermScreen
                screen={screen}
                label={label}
                canType={state.isYours}
                press={(key) => link.send({ keys: [key] })}
                paste={(text) => link.send({ paste: text })}
                leave={() => link.send({ take: false })}
              />
            </Suspense>
          ))}
      </section>
      {state.isYours && isText && <TypeLine link={link} />}
    </>
  );
}

/** Where to scroll so that the last row with text is seen: below it a screen is often empty. */
function endOf(box: HTMLElement, screen: ScreenView | undefined): number {
  const grid = box.querySelector<HTMLElement>(".xterm-screen");
  if (grid === null || screen === undefined) return box.scrollHeight - box.clientHeight;
  const text = screen.lines.findLastIndex((line) => line.trim() !== "");
  const rows = Math.max(text, screen.cursor?.y ?? 0) + 1;
  const top = grid.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  return Math.max(0, top + (grid.clientHeight * rows) / screen.lines.length - box.clientHeight + 12);
}

/** What is there instead of a screen. */
function Shown({ state, run, tryAgain }: { state: TerminalState; run: RunView; tryAgain: () => void }) {
  const { connection, output, screen } = state;
  if (connection === "ended")
    return (
      <div role="alert" className="space-y-2 p-2">
        <Problems problems={state.problems} />
        <Button onClick={tryAgain}>Try again</Button>
      </div>
    );
  if (state.run === undefined) return connection === "lost" ? null : <Loading what="the terminal" />;
  if (state.run.source === "output") {
    return (
      <>
        {output.isCut && <p className="text-sm text-muted">Earlier output is not shown. See it: signalbox task logs</p>}
        {output.text === "" ? (
          <p className="text-muted">It has printed nothing yet.</p>
        ) : (
          <Screen text={output.text.trimEnd()} className="!whitespace-pre-wrap [overflow-wrap:anywhere]" />
        )}
      </>
    );
  }
  if (screen !== undefined) return null;
  return (
    <p className="p-4 text-center text-muted">
      {run.endedAt === null
        ? "It has no window now, such as an agent that is asleep. Taking control wakes it."
        : "Its window is closed."}
    </p>
  );
}

interface BarProps {
  link: TerminalLink;
  state: TerminalState;
  run: RunView;
  isText: boolean;
  isNarrow: boolean;
  setWantsText: (wants: boolean) => void;
  onNext: (run: string) => void;
  box: () => HTMLElement | null;
}

/** Who has control, how to take it or give it back, and what has happened to the run. */
function TerminalBar({ link, state, run, isText, isNarrow, setWantsText, onNext, box }: BarProps) {
  const { connection, holder, isYours, refused, end, next, screen } = state;
  const hasTerminal = state.run?.source === "screen" && run.endedAt === null && end === undefined;
  const take = (force: boolean) => link.send({ take: true, as: ownName(), ...(force ? { force } : {}) });
  return (
    <div className="mx-3 space-y-1 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <Lamp state={state} isOver={run.endedAt !== null} />
        {hasTerminal && holder !== null && (
          <span className={isYours ? "font-medium text-accent" : "font-medium text-warn"}>
            {isYours ? "You have control" : `${visibleLine(holder.as)} has control`}
            <span className="ml-1.5 text-sm font-normal text-muted">
              for <Ago iso={holder.since} />
            </span>
          </span>
        )}
        {isYours && !isText && (
          <span className="text-sm text-muted">Keys go to the agent. Shift+Esc gives it back.</span>
        )}
        <span className="ml-auto flex flex-wrap gap-1.5">
          {screen !== undefined && !isNarrow && (
            <Button look="quiet" aria-pressed={isText} onClick={() => setWantsText(!isText)}>
              As text
            </Button>
          )}
          {isYours && !isText && (
            <>
              <Button look="quiet" onClick={() => link.send({ size: sizeFor(box()) })}>
                Fit to this page
              </Button>
              <Button look="quiet" onClick={() => link.send({ size: null })}>
                Its own size
              </Button>
            </>
          )}
          {hasTerminal && !isYours && (
            <Button
              look={holder === null ? "main" : "plain"}
              disabled={connection !== "open"}
              onClick={() => take(holder !== null)}
            >
              {holder === null ? "Take control" : "Take it over"}
            </Button>
          )}
          {isYours && <Button onClick={() => link.send({ take: false })}>Give control back</Button>}
        </span>
      </div>
      <div aria-live="polite" className="space-y-1 empty:hidden">
        {connection === "lost" && (
          <p className="text-sm text-warn">
            The connection to the terminal is lost. What you see is what was there last. Connecting again …{" "}
            {state.problems[0]?.text}
          </p>
        )}
        {refused !== undefined && (
          <p className="flex items-start gap-2 rounded-md bg-bad-soft px-3 py-1.5">
            <span className="min-w-0 flex-1">
              <Line text={refused.message} /> <Line text={refused.hint} className="text-muted" />
            </span>
            <Button look="quiet" onClick={link.forgetRefusal} aria-label="Close">
              ×
            </Button>
          </p>
        )}
        {end !== undefined && (
          <p className="text-sm text-muted">
            {run.key} ended <Ago iso={end.at} /> ago: {end.word}. <Line text={end.why} />
          </p>
        )}
        {next !== undefined && (
          <p className="flex items-center gap-2 text-sm">
            {next.run} works on this task now.
            <Button onClick={() => onNext(next.run)}>Watch {next.run}</Button>
          </p>
        )}
      </div>
    </div>
  );
}

function Lamp({ state: { connection }, isOver }: { state: TerminalState; isOver: boolean }) {
  const [tone, word] = isOver
    ? ["bg-line", "over"]
    : connection === "open"
      ? ["bg-good", "live"]
      : connection === "connecting"
        ? ["bg-line", "connecting"]
        : ["bg-warn", connection === "lost" ? "not connected" : "not available"];
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-muted">
      <span aria-hidden className={`size-2 rounded-full ${tone}`} />
      {word}
    </span>
  );
}

/** What a button shows, the key, and for a sign its name. */
const specialKeys: readonly (readonly [label: string, key: string, name?: string])[] = [
  ["↵", "Enter", "Enter"],
  ["Esc", "Escape"],
  ["↑", "Up", "Up"],
  ["↓", "Down", "Down"],
  ["Tab", "Tab"],
  ["Shift Tab", "BTab"],
  ["Ctrl C", "C-c"],
  ["Ctrl U", "C-u"],
];

/** A field and the keys that a phone's keyboard lacks. */
function TypeLine({ link }: { link: TerminalLink }) {
  const [text, setText] = useState("");
  return (
    <form
      className="mx-3 mb-3 space-y-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "") link.send({ paste: text });
        link.send({ keys: ["Enter"] });
        setText("");
      }}
    >
      <div className="flex gap-1.5">
        <input
          aria-label="Type into the terminal"
          placeholder="Type into the terminal"
          value={text}
          onChange={({ target }) => setText(target.value)}
          autoComplete="off"
          className="min-w-0 flex-1 rounded-md border border-line bg-panel px-3 py-1 font-mono pointer-coarse:text-lg"
        />
        <Button type="submit" look="main">
          Send
        </Button>
      </div>
      <div className="flex gap-1 overflow-x-auto">
        {specialKeys.map(([label, key, name]) => (
          <Button
            key={key}
            onClick={() => link.send({ keys: [key] })}
            aria-label={name}
            className="pointer-coarse:px-3"
          >
            {label}
          </Button>
        ))}
      </div>
    </form>
  );
}

/** How the others see who has control. */
function ownName(): string {
  const { userAgent } = navigator;
  const browser = /Firefox|Edg|Chrom(?:e|ium)|Safari/.exec(userAgent)?.[0] ?? "browser";
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(userAgent)?.[0] ?? "another machine";
  return `the page in ${browser === "Edg" ? "Edge" : browser} on ${system}`;
}

/** As many columns and rows as fit into the box in a font that is easy to read. */
function sizeFor(box: HTMLElement | null): { columns: number; rows: number } {
  const between = (low: number, value: number, high: number) => Math.max(low, Math.min(high, Math.floor(value)));
  const { clientWidth = 800, clientHeight = 480 } = box ?? {};
  return { columns: between(20, (clientWidth - 20) / 8.45, 500), rows: between(5, (clientHeight - 20) / 17, 200) };
}
