/** What wakes everybody who waits for a pane to die. */
export const deathChannel = "signalbox-death";
/** The options of ours that hold what people call things; see `shownText`. */
export const titleOption = "@signalbox_title";
export const windowOption = "@signalbox_window";
/** The window's name as it was ordered, in base64: any text comes back as it was. */
export const nameOption = "@signalbox_name";
/** Which run a pane belongs to, and in which session it was opened: they stay with the pane when a person renames or moves it. */
export const runOption = "@signalbox_run";
export const sessionOption = "@signalbox_session";

/** How to leave, for people. Nobody's own tmux listens to these keys, and no agent that we know needs them. */
export const leaveKeys = "F12, or Ctrl-Q and then d,";

const windowFormat = ` #{${windowOption}}#{?pane_dead, (ended),} `;

const options: readonly (readonly [string, string])[] = [
  // A pane stays when its program has ended, so that nobody can miss how.
  ["remain-on-exit", "on"],
  // What tmux would write below the last screen pushes its first line away.
  ["remain-on-exit-format", ""],
  ["history-limit", "10000"],
  ["default-terminal", "tmux-256color"],
  ["default-size", "160x48"],
  ["default-shell", "/bin/sh"],
  // What a person's terminal has in its environment is nothing for agents.
  ["update-environment", ""],
  ["escape-time", "0"],
  // Keys are keys, however fast they come: else the one for leaving may go to the program.
  ["assume-paste-time", "0"],
  ["set-titles", "off"],
  ["allow-rename", "off"],
  ["automatic-rename", "off"],
  ["allow-passthrough", "off"],
  ["set-clipboard", "external"],
  ["exit-empty", "on"],
  ["destroy-unattached", "off"],
  ["detach-on-destroy", "on"],
  ["mouse", "on"],
  ["prefix", "C-q"],
  ["prefix2", "None"],
  // Nothing in the status line changes by itself.
  ["status-interval", "0"],
  ["status-position", "bottom"],
  ["status-style", "bg=colour236,fg=colour252"],
  ["status-left", ` #{${titleOption}} `],
  ["status-left-length", "84"],
  ["status-left-style", "bold"],
  ["status-right", " F12 or Ctrl-Q d: leave (the agent goes on) "],
  ["status-right-length", "50"],
  ["window-status-format", windowFormat],
  ["window-status-current-format", windowFormat],
  ["window-status-current-style", "reverse"],
];

const deathHooks = ["pane-died", "pane-exited", "window-unlinked", "session-closed"] as const;

const treeFormat = `#{?pane_format,#{pane_title},#{?window_format,#{${windowOption}},#{${titleOption}}}}`;

// Only what people need to look and to talk. What splits, renames, kills or pastes would take our panes away from us, and
// some tmux servers die when somebody pastes into a pane that is dead.
const keys: readonly (readonly string[])[] = [
  ["-n", "F12", "detach-client"],
  ["d", "detach-client"],
  ["C-d", "detach-client"],
  ["C-q", "send-prefix"],
  ["n", "next-window"],
  ["p", "previous-window"],
  ["l", "last-window"],
  ["s", "choose-tree", "-Zs", "-F", treeFormat],
  ["w", "choose-tree", "-Zw", "-F", treeFormat],
  ["[", "copy-mode"],
  ["PPage", "copy-mode", "-u"],
  ...Array.from({ length: 10 }, (_, index) => [`${index}`, "select-window", "-t", `:=${index}`]),
  ["-n", "MouseDown1Status", "select-window", "-t", "="],
  ["-n", "MouseDown1Pane", "select-pane", "-t", "=", "\\;", "send-keys", "-M"],
  ["-n", "MouseDrag1Pane", ...whereProgramLooks("copy-mode -M")],
  ["-n", "WheelUpPane", ...whereProgramLooks("copy-mode -e")],
];

/** The commands that make a server ours; constant, and safe to give again. */
const commands: readonly (readonly string[])[] = [
  ...options.map(([name, value]) => ["set-option", "-gq", name, value]),
  ...deathHooks.map((hook) => ["set-hook", "-g", hook, `wait-for -S ${deathChannel}`]),
  ...["prefix", "root"].map((table) => ["unbind-key", "-aq", "-T", table]),
  ...keys.map((key) => ["bind-key", ...key]),
];

/** For a server that runs already: it may be that of an earlier version. */
export const settings: readonly string[] = commands.flatMap((command) => [...command, ";"]).slice(0, -1);

/** For a server that is to start. As arguments the settings would be all that people see of it among their processes. */
export const configuration: string = commands.map((command) => `${command.map(quote).join(" ")}\n`).join("");

/** None of the words has a quote in it. The semicolon between two commands of a key is escaped only among arguments. */
function quote(word: string): string {
  return word === "\\;" ? "';'" : `'${word}'`;
}

/** A program that wants to know about the mouse gets to know; else the window scrolls. */
function whereProgramLooks(otherwise: string): readonly string[] {
  return ["if-shell", "-F", "#{||:#{alternate_on},#{||:#{pane_in_mode},#{mouse_any_flag}}}", "send-keys -M", otherwise];
}
