import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { Fault } from "../fault.ts";
import type { HarnessEvent } from "../ports/harness.ts";
import type { Agent, AgentArguments } from "./agent.ts";
import { createScreen } from "./screen.ts";
import { thinking } from "./script.ts";

const endingSignals = { SIGTERM: 143, SIGHUP: 129 } as const;

/** A session in a terminal that behaves like the real agents', with their pitfalls. Returns the exit code. */
export async function interactive(
  agent: Agent,
  { prompt, events }: Pick<AgentArguments, "prompt" | "events">,
): Promise<number> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY) throw new Fault("usage", "An interactive session needs a terminal. Leave out --interactive.");
  const { session, script } = agent;
  const screen = createScreen(stdout);
  let input = "";
  let typedAt = Number.NEGATIVE_INFINITY;
  let queue: readonly string[] = [];
  let turn: AbortController | undefined;
  let doing = "";
  let dialog: Dialog | undefined;
  let finish: (code: number) => void = () => {};
  const over = new Promise<number>((resolve) => {
    finish = resolve;
  });

  const evidence = (event: HarnessEvent) => {
    if (events !== "") appendFileSync(events, `${JSON.stringify(event)}\n`, { mode: 0o600 });
  };
  const redraw = () =>
    screen.show(dialog ?? { kind: "box", input, busy: turn === undefined ? undefined : doing, queued: queue });

  const open = (title: string, about: string): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    dialog = { kind: "dialog", title, about, answer: resolve };
    evidence({ kind: "asks", about });
    redraw();
    return promise;
  };
  const decide = (isYes: boolean) => {
    const answer = dialog?.answer;
    session.note({ kind: "decided", yes: isYes });
    dialog = undefined;
    if (turn !== undefined) evidence({ kind: "busy", what: doing });
    redraw();
    answer?.(isYes);
  };
  /** Text that is typed while a dialog is open is lost, as in the real agents. */
  const swallow = (text: string) => session.note({ kind: "swallowed", text });

  const submit = () => {
    const text = input;
    input = "";
    if (text.trim() !== "") {
      session.note({ kind: "received", text });
      queue = [...queue, text];
      if (turn === undefined) goOn();
    }
    redraw();
  };

  const goOn = () => {
    work().catch((error: unknown) => {
      screen.say(String(error));
      finish(1);
    });
  };
  const work = async (): Promise<void> => {
    const [next, ...rest] = queue;
    if (next === undefined) return;
    queue = rest;
    turn = new AbortController();
    doing = "Working";
    evidence({ kind: "prompted", text: next });
    evidence({ kind: "busy", what: doing });
    screen.say(`> ${next}`);
    const played = await agent.hear(next, {
      signal: turn.signal,
      tell(event) {
        if (event.kind === "said") screen.say(event.text);
        if (event.kind === "busy") {
          const isNews = event.what !== doing && event.what !== thinking;
          doing = event.what;
          if (isNews) session.note({ ...event });
          if (isNews) evidence(event);
        }
        if (event.kind === "tool") doing = event.state === "began" ? event.name : "Working";
        redraw();
      },
      show: (output) => screen.say(output),
      ask: (about) => open("Permission", about),
      async print(bytes) {
        if (!stdout.write(bytes)) await once(stdout, "drain");
        screen.forget();
      },
      async quit(code) {
        finish(code);
        return new Promise<never>(() => {});
      },
    });
    turn = undefined;
    if (played.interrupted) screen.say("Interrupted.");
    if (played.error !== undefined) {
      screen.say(played.error.message);
      evidence({ kind: "failed", error: played.error });
    }
    // Like the real agents, it does not report that it is idle after an interruption.
    if (!played.interrupted) evidence({ kind: "idle", said: played.text });
    redraw();
    goOn();
  };

  const inDialog = (key: Key) => {
    if (key.kind === "enter") return decide(true);
    if (key.kind === "escape") return decide(false);
    if (key.kind === "interrupt" || key.kind === "end") return finish(0);
    if (key.kind === "paste") return swallow(key.text);
    if (key.kind !== "text") return;
    const [first = "", ...others] = key.text;
    if (others.length > 0) swallow(others.join(""));
    if (first === "y" || first === "n") return decide(first === "y");
    swallow(first);
  };

  const inBox = (key: Key) => {
    const now = performance.now();
    switch (key.kind) {
      case "text":
      case "paste":
        input += key.text;
        typedAt = key.kind === "text" ? now : Number.NEGATIVE_INFINITY;
        break;
      case "enter":
        if (now - typedAt > script.pasteBurst) return submit();
        // So soon after typed text, Enter counts as part of a paste.
        input += "\n";
        typedAt = now;
        break;
      case "newline":
        input += "\n";
        break;
      case "backspace":
        input = [...input].slice(0, -1).join("");
        break;
      case "clear":
        input = "";
        break;
      case "escape":
        turn?.abort();
        break;
      case "interrupt":
        if (input === "") return finish(0);
        input = "";
        break;
      case "end":
        if (input === "") return finish(0);
        break;
    }
    redraw();
  };

  const read = createKeyReader((key) => (dialog === undefined ? inBox(key) : inDialog(key)));
  stdin.setRawMode(true);
  stdout.write("\x1b[?2004h");
  stdin.on("data", read);
  stdin.on("end", () => finish(129));
  stdout.on("resize", redraw);
  for (const [signal, code] of Object.entries(endingSignals)) process.once(signal, () => finish(code));

  const start = async () => {
    if (script.trust && !(await open("Trust", "Do you trust the files in this folder?"))) return finish(1);
    evidence({ kind: "session", id: session.id, transcript: session.transcript });
    queue = prompt === "" ? queue : [prompt, ...queue];
    if (prompt !== "") session.note({ kind: "received", text: prompt });
    redraw();
    goOn();
  };
  void start();

  const code = await over;
  turn?.abort();
  evidence({ kind: "over" });
  session.close();
  screen.leave();
  stdout.write("\x1b[?2004l");
  stdin.setRawMode(false);
  process.exit(code);
}

interface Dialog {
  readonly kind: "dialog";
  readonly title: string;
  readonly about: string;
  answer(isYes: boolean): void;
}

/** Input from a person or a program at the terminal. */
export type Key =
  /** Typed text. */
  | { readonly kind: "text"; readonly text: string }
  /** Text between the marks of a bracketed paste. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "enter" | "newline" | "escape" | "interrupt" | "end" | "clear" | "backspace" };

// How long to wait for the rest of an escape sequence, in milliseconds.
const escapeTimeout = 50;
const pasteBegin = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const controls: Readonly<Record<string, Key>> = {
  "\r": { kind: "enter" },
  "\n": { kind: "newline" },
  "\x03": { kind: "interrupt" },
  "\x04": { kind: "end" },
  "\x15": { kind: "clear" },
  "\x7f": { kind: "backspace" },
  "\b": { kind: "backspace" },
};

/** Reads keys from bytes that come in pieces of any size. */
export function createKeyReader(onKey: (key: Key) => void): (chunk: Uint8Array) => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let pasted: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const takePaste = (): boolean => {
    // The mark may be split between two chunks.
    const end = rest.indexOf(pasteEnd);
    const kept = end === -1 ? Math.max(0, rest.length - pasteEnd.length + 1) : end;
    pasted = (pasted ?? "") + rest.slice(0, kept);
    rest = end === -1 ? rest.slice(kept) : rest.slice(end + pasteEnd.length);
    if (end === -1) return false;
    const text = pasted.replace(/\r\n?/g, "\n");
    pasted = undefined;
    onKey({ kind: "paste", text });
    return true;
  };

  /** False if more bytes are needed to decide. */
  const takeEscape = (isLate: boolean): boolean => {
    if (rest.startsWith(pasteBegin)) {
      rest = rest.slice(pasteBegin.length);
      pasted = "";
      return true;
    }
    const tail = rest.slice(1);
    const [sequence] = /^(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/.exec(tail) ?? [];
    if (sequence !== undefined) {
      rest = tail.slice(sequence.length);
      return true;
    }
    if (rest.startsWith("\x1b\r")) {
      rest = rest.slice(2);
      onKey({ kind: "newline" });
      return true;
    }
    if (!isLate && /^(?:\[[0-?]*[ -/]*|O)?$/.test(tail)) return false;
    rest = tail;
    onKey({ kind: "escape" });
    return true;
  };

  const takePlain = (): void => {
    const [text] = /^(?:\P{Cc}|\t)+/u.exec(rest) ?? [];
    rest = rest.slice(text?.length ?? 1);
    if (text !== undefined) onKey({ kind: "text", text });
  };

  const take = (isLate: boolean): void => {
    while (rest !== "") {
      const control = pasted === undefined ? controls[rest[0] ?? ""] : undefined;
      if (control !== undefined) {
        rest = rest.slice(1);
        onKey(control);
      } else if (pasted !== undefined) {
        if (!takePaste()) return;
      } else if (rest.startsWith("\x1b")) {
        if (!takeEscape(isLate)) return;
      } else takePlain();
    }
  };

  return (chunk) => {
    clearTimeout(timer);
    rest += decoder.write(Buffer.from(chunk));
    take(false);
    if (rest.startsWith("\x1b") && pasted === undefined) timer = setTimeout(() => take(true), escapeTimeout);
  };
}
