import { lazy, Suspense, useEffect, useState } from "react";
import { ansiPieces, cssColour } from "../text/ansi.ts";
import { localTime, shortDuration } from "../text/time.ts";
import { visible, visibleLine } from "../text/visible.ts";

/** One line of foreign text. */
export function Line({ text, className = "" }: { text: string; className?: string }) {
  const shown = visibleLine(text);
  return (
    <span className={className} title={shown.length > 40 ? shown : undefined} dir="auto">
      {shown}
    </span>
  );
}

/** Foreign text with its line breaks. */
export function Plain({ text, className = "" }: { text: string; className?: string }) {
  return (
    <div className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${className}`} dir="auto">
      {visible(text)}
    </div>
  );
}

/** A terminal's text, with its colours. */
export function Screen({ text, className = "" }: { text: string; className?: string }) {
  return (
    <pre className={`font-mono text-sm leading-snug ${className}`}>
      {ansiPieces(text).map(({ text: part, style }, i) => {
        const [fg, bg] = style.inverse ? [style.bg ?? 16, style.fg ?? 15] : [style.fg, style.bg];
        const look = {
          ...(fg === undefined ? {} : { color: cssColour(fg) }),
          ...(bg === undefined ? {} : { background: cssColour(bg) }),
          ...(style.bold ? { fontWeight: 600 } : {}),
          ...(style.dim ? { opacity: 0.7 } : {}),
          ...(style.italic ? { fontStyle: "italic" } : {}),
          ...(style.underline || style.strike
            ? {
                textDecoration: [style.underline && "underline", style.strike && "line-through"]
                  .filter(Boolean)
                  .join(" "),
              }
            : {}),
        };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no identity; the whole text is drawn again.
          <span key={i} style={look}>
            {part}
          </span>
        );
      })}
    </pre>
  );
}

const LazyMarkdown = lazy(() => import("./markdown-view.tsx").then(({ MarkdownView }) => ({ default: MarkdownView })));

/** Markdown that agents or people wrote. Until its reader is loaded, it is shown as text. */
export function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<Plain text={text} />}>
      <LazyMarkdown text={text} />
    </Suspense>
  );
}

/** How long ago something was. */
export function Ago({ iso, className = "" }: { iso: string; className?: string }) {
  const now = useNow();
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return null;
  return (
    <time dateTime={iso} title={localTime(iso)} className={`tabular-nums whitespace-nowrap ${className}`}>
      {shortDuration(Math.max(0, now - at))}
    </time>
  );
}

/** All shown ages grow together, every ten seconds. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
