/**
 * The keys of what a person can do with a task, by its name on the command line; empty for what has none. `move` has the digits
 * from 1 to 9. Of two actions with the same key, the allowed one has it. Dashboards use none of these keys for themselves.
 */
export const actionKeys = {
  spawn: "Enter",
  attach: "Enter",
  respawn: "Enter",
  send: "s",
  reply: "a",
  answer: "a",
  approve: "A",
  findings: "",
  plan: "",
  "request-changes": "r",
  merge: "m",
  "merge-cancel": "M",
  "create-pr": "p",
  sync: "u",
  continue: "n",
  retry: "t",
  cancel: "x",
  diff: "d",
  fetch: "F",
  peek: "e",
  logs: "l",
  explain: "i",
  history: "h",
  open: "o",
  shell: "!",
  edit: "E",
  kill: "K",
  "create-from": "N",
  delete: "D",
  move: "",
} as const;

/** The keys of `move`: its ways in the order of the workflow. */
export const moveKeys = ["1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;
