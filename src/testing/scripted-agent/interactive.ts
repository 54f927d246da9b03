import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { Fault } from "../../fault.ts";
import type { HarnessEvent } from "../../ports/harness.ts";
import type { Agent } from "./agent.ts";
import type { AgentArguments } from "./arguments.ts";
import { createKeyReader, type Key } from "./keys.ts";
import { createScreen } from "./screen.ts";
import { thinking } from "./script.ts";

const endingSignals = { SIGTERM: 143, SIGHUP: 129 } as const;

/** A session in a terminal, which behaves like those of the real agents, traps included. Gives the exit code. */
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
    if (events !== "") appendFileSync(events, `${JSON.stringify(event)}\n`);
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
  /** Who types while a dialog is open meant somebody else. */
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
    // Like the real ones it does not tell that it is idle after it was interrupted.
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
        // So soon after typed text it passes for a part of something pasted.
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
