/**
 * Makes a tmux server look for children that have ended. Tmux 3.3 now and then misses the signal that tells it, and would
 * wait for the next. To everybody else this signal means nothing.
 */
export function nudge(server: number): void {
  try {
    process.kill(server, "SIGCHLD");
  } catch {
    // There is no such server any more.
  }
}
