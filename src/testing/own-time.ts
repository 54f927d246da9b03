/** How many milliseconds this thread has computed so far. Unlike the clock's, they do not grow with what else a machine does. */
export function ownTime(): number {
  return process.threadCpuUsage().user / 1_000;
}
