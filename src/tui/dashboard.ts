import { createKeys } from "./bindings.ts";
import { withinDetail } from "./detail-lines.ts";
import { createDetailSource } from "./detail-source.ts";
import { type Change, createFeed } from "./feed.ts";
import { frameOf, layoutOf } from "./frame.ts";
import type { Input } from "./key-reader.ts";
import { lineOf } from "./line-editor.ts";
import { wordsOf } from "./overlay-input.ts";
import { atTime, settled, withDetail } from "./place.ts";
import type { Ports } from "./ports.ts";
import { type Effect, initialState } from "./state.ts";
import { createStyle, type Looks } from "./style.ts";
import { createTaker, messageOf } from "./take-action.ts";
import { openTty } from "./tty.ts";
import { logLines, update } from "./update.ts";

export interface DashboardOptions {
  readonly project: string | undefined;
  readonly looks: Looks;
  readonly hasMouse: boolean;
  readonly rings: boolean;
  /** The person's changes of keys. */
  readonly keys: Readonly<Record<string, string>>;
}

/** At most ten frames a second for what the daemon tells; a key draws at once. */
const frameInterval = 100;
const backgroundTimeout = 100;
/** A question is answered only by keys that come this long after it was drawn. */
const armDelay = 150;
const offerDelay = 120;

/** Shows the dashboard until the person leaves. Resolves with the signal that ended it, if one did. */
export function runDashboard(ports: Ports, options: DashboardOptions): Promise<NodeJS.Signals | undefined> {
  return new Promise((resolve, reject) => {
    const ending = new AbortController();
    const keys = createKeys(options.keys);
    let style = createStyle(options.looks);
    let isOver = false;
    let isAway = false;
    let lastCall: unknown;
    let seenPosition: number | undefined;
    let frameTimer: NodeJS.Timeout | undefined;
    let drawnAt = Number.NEGATIVE_INFINITY;
    const pending = new Set<Change>();

    const finish = (end: () => void) => {
      if (isOver) return;
      isOver = true;
      clearInterval(clock);
      clearTimeout(frameTimer);
      ending.abort();
      detail.close();
      tty.close();
      end();
    };
    const tty = openTty(process, options.hasMouse, {
      onInput: (input) => take(input),
      onResize: () => {
        const size = tty.size();
        tty.screen.clear();
        show((before) => withDetail(settled({ ...before, ...size })));
      },
      onTaken: () => draw(),
      onEnd: (signal) => finish(() => resolve(signal)),
      onError: (error) => finish(() => reject(error)),
    });
    const { columns, rows } = tty.size();
    let state = initialState(columns, rows, Date.now(), options.project);
    if (keys.problems.length > 0)
      state = { ...state, notice: { text: keys.problems.join(" "), role: "bad", command: "" } };

    const draw = () => {
      clearTimeout(frameTimer);
      frameTimer = undefined;
      if (isOver || isAway) return;
      for (const change of pending) state = change(state);
      pending.clear();
      if (state.isLoaded) seenPosition ??= state.events.at(-1)?.position;
      drawnAt = performance.now();
      const { overlay } = state;
      tty.screen.draw(frameOf(state, keys, style, ports.describe), state.columns, () => {
        if (overlay?.kind === "confirm" && !overlay.isArmed) setTimeout(() => arm(overlay.ask), armDelay);
      });
    };
    const schedule = () => {
      frameTimer ??= setTimeout(draw, Math.max(0, drawnAt + frameInterval - performance.now()));
    };
    const apply = (change: Change) => {
      const next = change(state);
      if (next === state) return;
      state = next;
      detail.look();
      schedule();
    };
    /** For what a person did: they see it at once. */
    const show = (change: Change) => {
      state = change(state);
      detail.look();
      draw();
    };
    const arm = (ask: unknown) =>
      apply((before) =>
        before.overlay?.kind === "confirm" && before.overlay.ask === ask
          ? { ...before, overlay: { ...before.overlay, isArmed: true } }
          : before,
      );

    const detail = createDetailSource(ports, () => state, apply);
    const feed = createFeed(
      ports,
      {
        state: () => state,
        apply,
        later: (change) => {
          pending.add(change);
          schedule();
        },
        onTask: (task) => detail.refresh(task),
        onCall: ({ data }) => {
          // The events of one call ring once.
          if (options.rings && data.call !== lastCall) tty.screen.send("\u0007");
          lastCall = data.call;
        },
      },
      ending.signal,
    );
    /** Gives the terminal to a program, and comes back to the same place. */
    const away = async <T>(run: () => Promise<T>): Promise<T> => {
      isAway = true;
      try {
        return await tty.handOver(run);
      } finally {
        isAway = false;
        const size = tty.isClosed() ? {} : tty.size();
        show((before) => settled({ ...before, ...size, now: Date.now() }));
      }
    };
    const runCommand = async (words: readonly string[], isQuiet: boolean) => {
      await away(async () => {
        process.stdout.write(`$ signalbox ${words.join(" ")}\n`);
        const code = await ports.runHere(words);
        if (isQuiet && code === 0) return;
        process.stdout.write("\nPress a key to return to the dashboard.");
        await tty.nextKey();
        process.stdout.write("\n");
      });
      void feed.refresh().catch(() => {});
    };
    const taker = createTaker({ ports, state: () => state, apply, runCommand, reread: (ids) => feed.reread(ids) });

    let offerTimer: NodeJS.Timeout | undefined;
    const offer = (text: string) => {
      clearTimeout(offerTimer);
      offerTimer = setTimeout(async () => {
        const typed = text.replace(/^signalbox\s+/, "");
        const words = [...wordsOf(typed), ...(/(^|\s)$/.test(typed) ? [""] : [])];
        const offers = await ports.offers(words).catch(() => []);
        apply((before) =>
          before.overlay?.kind === "command" && before.overlay.line.text === text
            ? { ...before, overlay: { ...before.overlay, offers } }
            : before,
        );
      }, offerDelay);
    };
    const write = async (text: string) => {
      const edited = await away(() => ports.edit(text));
      if (edited === undefined) return;
      show((before) => {
        const { overlay } = before;
        return overlay?.kind === "say" || overlay?.kind === "peek" || overlay?.kind === "create"
          ? { ...before, overlay: { ...overlay, line: lineOf(edited.replace(/\n+$/, "")) } }
          : before;
      });
    };
    const copy = (text: string) => {
      tty.screen.send(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u001b\\`);
      const title = "Copied, if the terminal allows that. Else select it here";
      show((before) => ({ ...before, overlay: { kind: "text", title, lines: [text], scroll: 0 } }));
    };
    /** Prints what has happened since the dashboard began, or since this was shown last. */
    const follow = async () => {
      const after = seenPosition === undefined ? [] : ["--after", String(seenPosition)];
      await runCommand(["events", "--follow", ...after], true);
      seenPosition = state.events.at(-1)?.position ?? seenPosition;
    };
    const fail = (error: unknown) =>
      apply((before) => ({ ...before, notice: { text: messageOf(error).join(" "), role: "bad", command: "" } }));

    const perform = (effect: Effect): void => {
      switch (effect.do) {
        case "quit":
          finish(() => resolve(undefined));
          return;
        case "suspend":
          tty.suspend();
          return;
        case "redraw":
          tty.screen.clear();
          draw();
          return;
        case "plain":
          void follow().catch(fail);
          return;
        case "press":
          taker.press(effect.key, effect.tasks);
          return;
        case "perform":
          taker.perform(effect.ask, effect.text);
          return;
        case "peek":
          taker.peek(effect.task);
          return;
        case "create":
          taker.create(effect.text);
          return;
        case "filter":
          show((before) => ({ ...before, filter: { q: "", ...effect.filter }, chosen: new Set(), focus: "list" }));
          void feed.again().catch(fail);
          return;
        case "copy":
          copy(effect.text);
          return;
        case "command":
          if (effect.words[0] === "log" && effect.words.length === 1) {
            show((before) => ({
              ...before,
              overlay: { kind: "text", title: "Commands of what was done here", lines: logLines(before), scroll: 0 },
            }));
            return;
          }
          void runCommand(effect.words, effect.isQuiet).catch(fail);
          return;
        case "offers":
          offer(effect.text);
          return;
        case "edit":
          void write(effect.text).catch(fail);
          return;
        case "more":
          if (state.screen === "tasks" && state.isUnfolded) void feed.readOver(true).catch(fail);
          return;
        case "scrollback":
          detail.more();
          return;
      }
    };
    const take = (input: Input) => {
      if (input.kind === "background") {
        if (performance.now() - askedAt <= backgroundTimeout)
          style = createStyle({ ...options.looks, isLight: input.isLight });
        return draw();
      }
      const before = state;
      const now = Date.now();
      const [next, effects] = update({ ...state, now }, input, keys);
      show(() => withinDetail({ ...next, touchedAt: now }, layoutOf(next), style, ports.describe));
      if (next.screen !== before.screen) void feed.readScreen().catch(fail);
      if (next.filter.q !== before.filter.q) feed.search();
      if (next.isUnfolded && !before.isUnfolded) void feed.readOver(false).catch(fail);
      for (const effect of effects) perform(effect);
    };

    const askedAt = performance.now();
    if (options.looks.depth > 0) tty.screen.send("\u001b]11;?\u001b\\");
    const clock = setInterval(() => apply((before) => atTime(before, Date.now())), 1_000);
    draw();
    feed.start().then(
      () => finish(() => resolve(undefined)),
      (error) => finish(() => reject(error)),
    );
  });
}
