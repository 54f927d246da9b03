import type { LiveScreen } from "./live-screen.ts";

/** Bytes as keys send them while nothing is made of them: q, Q, Escape, Ctrl-C and Ctrl-D end, Ctrl-Z stops for a while. */
const ends = new Set(["q", "Q", "\u001b", "\u0003", "\u0004"]);
const stops = "\u001a";

/** Listens to keys and to signals until `end` is called or somebody wants out; then everything is as before. */
export function watchKeys(screen: LiveScreen, redraw: () => void, end: () => void): () => void {
  const { stdin, stdout } = process;
  const hasKeys = stdin.isTTY === true;
  let isOver = false;
  const take = () => {
    screen.enter();
    if (hasKeys) stdin.setRawMode(true);
  };
  const give = () => {
    if (hasKeys) stdin.setRawMode(false);
    screen.leave();
  };
  const onKey = (bytes: Buffer) => {
    const key = bytes.toString("latin1");
    if (ends.has(key)) return end();
    if (key !== stops) return;
    give();
    process.kill(process.pid, "SIGTSTP");
    // While we are stopped no timer runs; where nobody could wake us, we are not stopped at all.
    setTimeout(() => {
      if (isOver) return;
      take();
      redraw();
    }, 100);
  };
  const onResize = () => {
    screen.forget();
    redraw();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, end);
  // Also where something goes wrong the terminal is given back.
  process.on("exit", give);
  stdout.on("resize", onResize);
  if (hasKeys) stdin.on("data", onKey).resume();
  take();
  return () => {
    isOver = true;
    give();
    for (const signal of signals) process.off(signal, end);
    process.off("exit", give);
    stdout.off("resize", onResize);
    if (hasKeys) stdin.off("data", onKey).pause();
  };
}
