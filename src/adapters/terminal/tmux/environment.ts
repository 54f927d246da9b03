/**
 * What tmux gets from our environment. The server passes its own on to everything that it ever starts, so there must be
 * nothing in it that somebody left in ours.
 */
export function environment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
    TERM: "screen",
  };
}
