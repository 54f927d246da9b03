import { pathOf } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { closeCodes, followTerminal, type ScreenView } from "../../api/terminal.ts";
import { socketAddress } from "../data/page-key.ts";

/** What a watcher knows about a terminal. */
export type Watched =
  | { readonly state: "connecting" }
  | { readonly state: "screen"; readonly screen: ScreenView }
  /** A run without a terminal: the end of what it has printed. */
  | { readonly state: "output"; readonly lines: readonly string[] }
  /** The run has no window now, for example because its agent is asleep. */
  | { readonly state: "gone" }
  | { readonly state: "ended"; readonly word: string; readonly why: string }
  | { readonly state: "lost"; readonly why: string };

/** How often a preview is drawn again at most, in milliseconds: the daemon sends up to 20 screens a second. */
const drawInterval = 200;
const firstDelay = 500;
const maxDelay = 10_000;
/** How much of the output is kept, in characters. */
const maxOutput = 8_192;

/**
 * Watches the terminal of a run, and connects again when the connection breaks. It only looks: it never takes control, and never
 * sizes the window. Returns what ends it.
 */
export function watchTerminal(task: string, run: string, tell: (now: Watched) => void): () => void {
  let isOver = false;
  let delay = firstDelay;
  let close = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let newest: Watched = { state: "connecting" };
  const show = (now: Watched) => {
    newest = now;
    drawing ??= setTimeout(() => {
      drawing = undefined;
      if (!isOver) tell(newest);
    }, drawInterval);
  };
  const connect = () => {
    let output = "";
    const socket = new WebSocket(socketAddress(pathOf(routes.watchTerminal, { params: { task }, query: { run } })));
    const following = followTerminal(socket, {
      onScreen(screen) {
        delay = firstDelay;
        show(screen === undefined ? { state: "gone" } : { state: "screen", screen });
      },
      onMessage(message) {
        if (message.type === "output") {
          output = (message.isCut ? message.text : output + message.text).slice(-maxOutput);
          show({ state: "output", lines: output.split("\n") });
        } else if (message.type === "end") show({ state: "ended", word: message.word, why: message.why });
      },
      onClose(code, reason) {
        if (isOver || newest.state === "ended") return;
        if (code === closeCodes.denied || code === closeCodes.busy)
          show({ state: "lost", why: reason === "" ? "The daemon refuses the connection." : reason });
        timer = setTimeout(connect, delay);
        delay = Math.min(delay * 2, maxDelay);
      },
    });
    close = following.close;
  };
  connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(drawing);
    close();
  };
}
