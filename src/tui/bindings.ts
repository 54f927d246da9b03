import { actionKeys, moveKeys } from "../api/act.ts";

/** Something of the dashboard's own that a key does. */
export interface Binding {
  /** Its name in the configuration. */
  readonly id: string;
  /** A key, or two after each other such as `g t`. */
  readonly keys: readonly string[];
  readonly label: string;
}

/** The dashboard's own keys. Help, configuration and the handler read this one table. */
export const ownBindings = [
  { id: "down", keys: ["j", "Down"], label: "next line" },
  { id: "up", keys: ["k", "Up"], label: "previous line" },
  { id: "page-down", keys: ["PageDown", "Ctrl+F"], label: "a page down" },
  { id: "page-up", keys: ["PageUp", "Ctrl+B"], label: "a page up" },
  { id: "first", keys: ["Home"], label: "first line" },
  { id: "last", keys: ["End"], label: "last line" },
  { id: "left", keys: ["Left"], label: "previous file, or earlier in a long line" },
  { id: "right", keys: ["Right"], label: "next file, or later in a long line" },
  { id: "peek", keys: ["Space"], label: "peek at the task and reply; fold a group" },
  { id: "next-waiting", keys: ["]"], label: "next task that needs you" },
  { id: "previous-waiting", keys: ["["], label: "previous task that needs you" },
  { id: "tasks", keys: ["g t"], label: "tasks" },
  { id: "agents", keys: ["g a"], label: "agents" },
  { id: "events", keys: ["g e"], label: "events" },
  { id: "problems", keys: ["g p"], label: "problems" },
  { id: "merges", keys: ["g m"], label: "merge line" },
  { id: "usage", keys: ["g u"], label: "usage" },
  { id: "next-pane", keys: ["Tab"], label: "next pane" },
  { id: "previous-pane", keys: ["Backtab"], label: "previous pane" },
  { id: "search", keys: ["/"], label: "search" },
  { id: "filter", keys: ["f"], label: "filter by project, group or label" },
  { id: "create", keys: ["c"], label: "create a task" },
  { id: "select", keys: ["v"], label: "select several tasks for one action" },
  { id: "copy", keys: ["y"], label: "copy id, branch, command or path" },
  { id: "command", keys: [":"], label: "any command of signalbox" },
  { id: "width", keys: ["w"], label: "width of the detail" },
  { id: "plain", keys: ["b"], label: "plain log instead of this screen" },
  { id: "done", keys: ["z"], label: "what was done, and how to take it back" },
  { id: "help", keys: ["?"], label: "this help" },
  { id: "redraw", keys: ["Ctrl+L"], label: "draw the screen again" },
  { id: "leave", keys: ["Escape"], label: "close, or go back" },
  { id: "quit", keys: ["q", "Ctrl+C"], label: "quit; agents continue" },
] as const satisfies readonly Binding[];

export type OwnId = (typeof ownBindings)[number]["id"];

export interface Keys {
  /** Own keys and sequences, and what they do. */
  readonly own: ReadonlyMap<string, OwnId>;
  /** Keys that begin a sequence. */
  readonly prefixes: ReadonlySet<string>;
  /** Other keys of tasks' actions, by the key that the daemon says. */
  readonly actions: ReadonlyMap<string, string>;
  /** How each own action is pressed, for help. */
  readonly shown: ReadonlyMap<string, string>;
  /** What is wrong with the configuration, as sentences. */
  readonly problems: readonly string[];
}

/** The keys with the person's changes: a name of the dashboard's own or of a task's action, and its key. */
export function createKeys(changes: Readonly<Record<string, string>> = {}): Keys {
  const own = new Map<string, OwnId>();
  const shown = new Map<string, string>();
  const problems: string[] = [];
  const owners = new Map<string, string>();
  const claim = (key: string, name: string) => {
    const owner = owners.get(key);
    if (owner !== undefined && owner !== name && !mayShare(owner, name))
      problems.push(`The key "${key}" is bound twice, to ${owner} and ${name}; it does ${owner}.`);
    else owners.set(key, name);
    return owners.get(key) === name;
  };
  for (const { id, keys } of ownBindings) {
    const changed = Object.hasOwn(changes, id) ? changes[id] : undefined;
    for (const key of changed === undefined ? keys : [changed]) if (claim(key, id)) own.set(key, id);
    shown.set(id, changed ?? keys[0]);
  }
  const actions = new Map<string, string>();
  for (const [name, key] of Object.entries(actionKeys)) {
    const changed = Object.hasOwn(changes, name) ? changes[name] : undefined;
    if (key !== "" && claim(changed ?? key, name) && changed !== undefined) actions.set(changed, key);
  }
  for (const key of moveKeys) claim(key, "move");
  for (const name of Object.keys(changes))
    if (!shown.has(name) && !Object.hasOwn(actionKeys, name))
      problems.push(`dashboard.keys has "${name}", which is no action.`);
  const prefixes = new Set([...own.keys()].flatMap((key) => (key.includes(" ") ? [key.split(" ")[0] ?? ""] : [])));
  return { own, prefixes, actions, shown, problems };
}

/** Actions of which a task allows one at a time, so that the daemon gives the key to that one. */
function mayShare(one: string, other: string): boolean {
  const key = keyOf(one);
  return key !== undefined && key !== "" && key === keyOf(other);
}

const keyOf = (name: string): string | undefined =>
  Object.hasOwn(actionKeys, name) ? actionKeys[name as keyof typeof actionKeys] : undefined;
