import { type ITheme, Terminal } from "@xterm/xterm";
import { useEffect, useLayoutEffect, useRef } from "react";
import type { ScreenView } from "../../api/terminal.ts";
import { useTheme } from "../shell/theme.ts";
import { safeRow } from "./terminal-rows.ts";
import { tmuxKeyOf } from "./tmux-keys.ts";
import "@xterm/xterm/css/xterm.css";

interface XtermScreenProps {
  screen: ScreenView;
  /** What a screen reader calls it. */
  label: string;
  /** Whether the person has control. Without it no key is taken, and the focus passes by. */
  canType: boolean;
  press: (key: string) => void;
  paste: (text: string) => void;
  /** The person wants to leave the terminal with the keyboard. */
  leave: () => void;
}

const maxFont = 14;
/** Below that nothing can be read: the box scrolls sideways instead. */
const minFont = 7;

/**
 * Draws a screen as it is: with as many columns and rows as it has, in a font that fits the box. It shows what the daemon says and
 * nothing else: the rows are written without any sequence but colours, and keys go to the daemon, not into the terminal.
 */
export function XtermScreen({ screen, label, canType, press, paste, leave }: XtermScreenProps) {
  const box = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal>(undefined);
  const drawn = useRef<ScreenView>(undefined);
  const person = useRef({ canType, press, paste, leave });
  const theme = useTheme();
  useLayoutEffect(() => {
    person.current = { canType, press, paste, leave };
  });

  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    const made = new Terminal({
      scrollback: 0,
      fontSize: maxFont,
      fontFamily: getComputedStyle(place).fontFamily,
      minimumContrastRatio: 4.5,
      cursorInactiveStyle: "outline",
      // A link that an agent has made is text.
      linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
    });
    made.open(place);
    made.write("\u001b[?7l");
    terminal.current = made;
    drawn.current = undefined;
    made.attachCustomKeyEventHandler((event) => {
      const { canType: mayType, press: send, leave: goOut } = person.current;
      if (event.type !== "keydown" || !mayType) return event.isComposing && mayType;
      if (event.key === "Escape" && event.shiftKey) {
        event.preventDefault();
        goOut();
        return false;
      }
      const key = tmuxKeyOf(event);
      if (key === undefined) return event.isComposing || event.key === "Dead" || event.key === "Process";
      event.preventDefault();
      send(key);
      return false;
    });
    // Only composed characters come here: the keys above are not the terminal's.
    const typed = made.onData((text) => {
      if (person.current.canType) for (const character of text) person.current.press(nameOf(character));
    });
    const onPaste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (person.current.canType && text !== "") person.current.paste(text);
    };
    place.addEventListener("paste", onPaste, true);
    const fitting = new ResizeObserver(() => fitFont(made, place));
    fitting.observe(place);
    return () => {
      place.removeEventListener("paste", onPaste, true);
      fitting.disconnect();
      typed.dispose();
      made.dispose();
    };
  }, []);

  useLayoutEffect(() => {
    const made = terminal.current;
    if (made === undefined || box.current === null) return;
    const before = drawn.current;
    drawn.current = screen;
    const isResized = made.cols !== screen.columns || made.rows !== screen.lines.length;
    if (isResized) made.resize(screen.columns, Math.max(1, screen.lines.length));
    made.write(changesOf(isResized ? undefined : before, screen));
    if (isResized || before === undefined) fitFont(made, box.current);
  }, [screen]);

  // Before the page says that the person has control: no key may be an action of the page then.
  useLayoutEffect(() => {
    const made = terminal.current;
    if (made?.textarea === undefined) return;
    made.textarea.tabIndex = canType ? 0 : -1;
    made.textarea.setAttribute("aria-label", label);
    made.options.disableStdin = !canType;
    if (canType) made.focus();
    else made.blur();
  }, [canType, label]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is what changes the colours.
  useEffect(() => {
    const made = terminal.current;
    const place = box.current;
    if (made === undefined || place === null) return;
    const paint = () => {
      made.options.theme = themeOf(place);
    };
    // The page's root gets its theme after this.
    const timer = setTimeout(paint);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", paint);
    return () => {
      clearTimeout(timer);
      system.removeEventListener("change", paint);
    };
  }, [theme]);

  // A picture has nothing in it that can have the focus.
  const naming = { role: canType ? "group" : "img", "aria-label": label };
  return <div ref={box} {...naming} className="w-full overflow-x-auto font-mono" />;
}

function nameOf(character: string): string {
  return character === " " ? "Space" : character;
}

/** What to write so that the terminal shows the screen: the rows that are another now, then the cursor. */
function changesOf(before: ScreenView | undefined, screen: ScreenView): string {
  const rows = screen.lines.flatMap((line, i) =>
    before?.lines[i] === line ? [] : [`\u001b[${i + 1};1H\u001b[0m\u001b[2K${safeRow(line)}`],
  );
  const { cursor } = screen;
  const shown = cursor === null ? "\u001b[?25l" : `\u001b[?25h\u001b[${cursor.y + 1};${cursor.x + 1}H`;
  return `${rows.join("")}\u001b[0m${shown}`;
}

/** Chooses the largest font with which all columns fit. The terminal itself keeps its size. */
function fitFont(terminal: Terminal, place: HTMLElement): void {
  const grid = place.querySelector<HTMLElement>(".xterm-screen");
  const font = terminal.options.fontSize ?? maxFont;
  if (grid === null || grid.clientWidth === 0 || place.clientWidth === 0) return;
  const wanted = Math.floor(((font * place.clientWidth) / grid.clientWidth) * 4) / 4;
  const next = Math.min(maxFont, Math.max(minFont, wanted));
  if (Math.abs(next - font) >= 0.25) terminal.options.fontSize = next;
}

/** The page's own colours, as the browser has worked them out for light or dark. */
function themeOf(place: HTMLElement): ITheme {
  const probe = place.appendChild(document.createElement("i"));
  const colourOf = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const ansi = Array.from({ length: 16 }, (_, i) => colourOf(`--ansi-${i}`));
  const [black, red, green, yellow, blue, magenta, cyan, white, ...bright] = ansi as [string, ...string[]];
  const [brightBlack, brightRed, brightGreen, brightYellow, brightBlue, brightMagenta, brightCyan, brightWhite] =
    bright;
  const theme = {
    ...{ black, red, green, yellow, blue, magenta, cyan, white },
    ...{ brightBlack, brightRed, brightGreen, brightYellow, brightBlue, brightMagenta, brightCyan, brightWhite },
    background: colourOf("--color-panel"),
    foreground: colourOf("--color-ink"),
    cursor: colourOf("--color-accent"),
    cursorAccent: colourOf("--color-panel"),
    selectionBackground: colourOf("--color-chosen"),
    selectionInactiveBackground: colourOf("--color-chosen"),
  };
  probe.remove();
  return Object.fromEntries(Object.entries(theme).filter(([, colour]) => colour !== undefined));
}
