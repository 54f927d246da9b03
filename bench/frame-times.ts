// Loaded before the command line: notes the processor time at the first frame, how long each key takes to its frame, and how
// many frames there were. Written to the file FRAME_TIMES at the end.
import { writeFileSync } from "node:fs";

const file = process.env.FRAME_TIMES ?? "";
const keys: number[] = [];
let firstFrame: number | undefined;
let frames = 0;
let pressedAt: number | undefined;
const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = ((text: string | Uint8Array, ...rest: readonly never[]) => {
  if (typeof text === "string" && text.includes("\u001b[?2026h")) {
    frames++;
    firstFrame ??= spent();
    if (pressedAt !== undefined) keys.push(performance.now() - pressedAt);
    pressedAt = undefined;
  }
  return write(text as never, ...(rest as unknown as []));
}) as typeof process.stdout.write;
const emit = process.stdin.emit.bind(process.stdin);
process.stdin.emit = ((name: string, ...rest: readonly unknown[]) => {
  if (name === "data") pressedAt = performance.now();
  return emit(name as never, ...(rest as never[]));
}) as typeof process.stdin.emit;
process.on("exit", () =>
  writeFileSync(file, JSON.stringify({ keys, firstFrame: firstFrame ?? spent(), frames, total: spent() })),
);
