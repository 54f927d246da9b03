import { StringDecoder } from "node:string_decoder";
import { Fault } from "../../fault.ts";
import { spawnChild } from "../child.ts";
import { baseArguments, environment } from "./run-tmux.ts";

interface ControlPorts {
  readonly program: string;
  readonly socket: string;
  /** Tmux's id of the session. */
  readonly session: string;
  /** A line outside of answers: the program of a pane has written something, a window has another size. */
  onNotice(line: string): void;
  onEnd(): void;
}

/** A client of our tmux server that has no screen. It never sizes a window, and ends with the daemon. */
export interface ControlClient {
  /** Sends a command of tmux's own language; see `word`. Commands that are sent without waiting are carried out together. */
  ask(command: string, options?: AskOptions): Promise<readonly string[]>;
  close(): void;
}

interface AskOptions {
  /** How many lines the answer has, where they come from an agent: no line of it is taken for its end. */
  lines?(): number;
  /** Is given the answer before the next one begins. */
  take?(lines: readonly string[]): void;
}

interface Pending extends AskOptions {
  resolve(lines: readonly string[]): void;
  reject(error: Fault): void;
}

/** Milliseconds for tmux to answer. */
const timeout = 10_000;

// With "pause-after" tmux drops output that this client does not read in time. Without it, tmux would stop reading from the
// agents' terminals while the daemon hangs.
const flags = "ignore-size,read-only,pause-after=1";

export function openControlClient({ program, socket, session, onNotice, onEnd }: ControlPorts): ControlClient {
  const args = [...baseArguments(socket), "-C", "attach-session", "-E", "-f", flags, "-t", session];
  const child = spawnChild(program, args, { cwd: "/", env: environment(), stdio: ["pipe", "pipe", "ignore"] });
  const pending: Pending[] = [];
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let current: Pending | undefined;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    child.kill("SIGKILL");
    for (const { reject } of [...(current === undefined ? [] : [current]), ...pending.splice(0)]) reject(noAnswer());
    onEnd();
  };
  const watchdog = () => {
    clearTimeout(timer);
    timer = pending.length === 0 || isOver ? undefined : setTimeout(end, timeout).unref();
  };
  const reader = createAnswerReader({
    begin: (isOurs) => {
      const asked = isOurs ? pending.shift() : undefined;
      if (asked !== undefined) current = asked;
      return asked?.lines?.() ?? 0;
    },
    end: (lines, isError) => {
      const asked = current;
      current = undefined;
      watchdog();
      if (!isError) {
        asked?.take?.(lines);
        return asked?.resolve(lines);
      }
      asked?.reject(new Fault("terminal.failed", `tmux refused: ${lines.join(" ").slice(0, 200)}.`));
      // An agent may have printed what looks like an error: nothing after it can be trusted.
      if (asked?.lines !== undefined) end();
    },
    notice: (line) => {
      if (line === "%exit" || line.startsWith("%exit ")) end();
      else onNotice(line);
    },
  });
  child.unref();
  child.stdout.on("data", reader);
  child.stdin.on("error", () => {});
  child.on("error", end);
  child.on("close", end);
  return {
    ask: (command, options = {}) =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(noAnswer());
        pending.push({ ...options, resolve, reject });
        if (timer === undefined) watchdog();
        child.stdin.write(`${command}\n`);
      }),
    close: end,
  };
}

function noAnswer(): Fault {
  return new Fault("terminal.gone", "The tmux server of Signalbox closed the connection.", { retry: "later" });
}

/** Quotes a word for tmux's own language. */
export function word(text: string): string {
  return `'${text.replace(/[\r\n]/g, " ").replaceAll("'", `'"'"'`)}'`;
}

interface AnswerListener {
  /** An answer begins, to a command of ours or of somebody else. Returns how many of its lines are not its end. */
  begin(isOurs: boolean): number;
  end(lines: readonly string[], isError: boolean): void;
  notice(line: string): void;
}

/** Reads what tmux writes to a control client, in pieces of any size. */
export function createAnswerReader({ begin, end, notice }: AnswerListener): (bytes: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let answer: { readonly id: string; readonly least: number; readonly lines: string[] } | undefined;
  const take = (line: string) => {
    if (answer === undefined) {
      const [, id, flag] = /^%begin (\d+ \d+ (\d+))$/.exec(line) ?? [];
      if (id === undefined) return notice(line);
      answer = { id, least: begin(flag === "1"), lines: [] };
      return;
    }
    const { id, least, lines } = answer;
    const isError = line === `%error ${id}`;
    if (!isError && (lines.length < least || line !== `%end ${id}`)) return void lines.push(line);
    answer = undefined;
    end(lines, isError);
  };
  return (bytes) => {
    const lines = (rest + decoder.write(bytes)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  };
}
