import { memo, useEffect, useRef, useState } from "react";
import { visibleLine } from "../text/visible.ts";
import { Screen } from "../ui/text.tsx";
import { type Watched, watchTerminal } from "./watch-terminal.ts";

/** On a touch screen a preview scrolls. */
const isTouch = matchMedia("(pointer: coarse)").matches;
/** How many lines of a screen a preview shows: the last ones that are not empty. */
const shownLines = 16;

/**
 * What a run's terminal shows now, small, as text with its colours. Only while it is on the screen, and the page is, does it have a
 * connection.
 */
export function Preview({ task, run, title }: { task: string; run: string; title: string }) {
  const box = useRef<HTMLDivElement>(null);
  const isVisible = useIsVisible(box);
  const [now, setNow] = useState<Watched>({ state: "connecting" });
  useEffect(() => (isVisible ? watchTerminal(task, run, setNow) : undefined), [isVisible, task, run]);
  const lines = now.state === "screen" ? now.screen.lines : now.state === "output" ? now.lines : [];
  return (
    <section
      ref={box}
      aria-label={title}
      tabIndex={isTouch ? 0 : undefined}
      data-preview={now.state}
      className="relative h-56 overflow-hidden bg-sunken p-2 pointer-coarse:overflow-auto [&_pre]:text-[0.6875rem] [&_pre]:leading-[1.2]"
    >
      <TerminalLines lines={lastLines(lines)} />
      {now.state === "connecting" && <Note text="Connecting …" />}
      {now.state === "gone" && <Note text="It is asleep: it has no window now." />}
      {now.state === "lost" && <Note text={now.why} />}
      {now.state === "ended" && <Note text={`It has ended: ${now.word}. ${now.why}`} />}
      {(now.state === "screen" || now.state === "output") && lines.every((line) => line.trim() === "") && (
        <Note text="It has shown nothing yet." />
      )}
    </section>
  );
}

function Note({ text }: { text: string }) {
  return (
    <p className="absolute inset-x-2 bottom-2 rounded bg-panel px-2 py-1 text-sm text-muted">{visibleLine(text)}</p>
  );
}

function TerminalLines({ lines }: { lines: readonly string[] }) {
  return (
    <div className="min-w-max">
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row of a screen is its place.
        <TerminalLine key={i} text={line} />
      ))}
    </div>
  );
}

/** Each row begins in the default style, so that a row that has not changed need not be drawn again. */
const TerminalLine = memo(function TerminalLine({ text }: { text: string }) {
  return <Screen text={text === "" ? " " : text} />;
});

function lastLines(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(Math.max(0, last + 1 - shownLines), last + 1);
}

/** Whether the element is on the screen, and the page is not hidden. */
function useIsVisible(ref: React.RefObject<HTMLElement | null>): boolean {
  const [isInView, setInView] = useState(false);
  const [isPageShown, setPageShown] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: "80px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  useEffect(() => {
    const hear = () => setPageShown(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", hear);
    return () => document.removeEventListener("visibilitychange", hear);
  }, []);
  return isInView && isPageShown;
}
