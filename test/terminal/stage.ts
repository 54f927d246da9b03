import type { Pane, Terminal, WindowOrder } from "../../src/ports/terminal.ts";

/** A terminal whose programs follow the test's commands. */
export interface TerminalStage {
  readonly terminal: Terminal;
  /** Opens a window with such a program, and waits until it is ready. */
  open(order: Partial<WindowOrder> & { readonly run: string }): Promise<Pane>;
  /** Only the order, for tests that open the window themselves. */
  orderOf(order: Partial<WindowOrder> & { readonly run: string }): WindowOrder;
  print(run: string, text: string): Promise<void>;
  call(run: string, title: string): Promise<void>;
  end(run: string, how: { readonly code: number } | { readonly signal: NodeJS.Signals }): Promise<void>;
  /** All input so far, with `<` and `>` around each paste. */
  received(run: string): Promise<string>;
  /** How many programs were ever started for a run. */
  starts(run: string): Promise<number>;
  loseServer(): Promise<void>;
  clear(): Promise<void>;
}

export const hostileTexts: readonly string[] = [
  "#(touch PWNED)",
  "#{pane_id} #{E:window_name} #[fg=red,reverse]x#[default]",
  "##(touch PWNED) ###(touch PWNED)",
  "a; touch PWNED ;",
  ";",
  "\\;",
  "kill-server ;",
  "$(touch PWNED) `touch PWNED` '\" | & > PWNED",
  "two\nlines\r\nand\ta tab",
  "\x1b[2J\x1b]0;pwned\x07\x1bPx\x1b\\\x9b31m\x00",
  "%H:%M %d",
  "🚂 Ж 漢字 e\u0301 \u202Eevil\u202C \u200D",
  "x".repeat(4096),
  "=s:=w.0",
  "-t",
  "",
];
