import { acts, commandWith, dangerOf, isMerging } from "../api/act.ts";
import { Refusal, writeRefusal } from "../api/client.ts";
import { pushOutlook, undoCommand } from "../api/merge-answer.ts";
import { routes } from "../api/routes.ts";
import { Fault } from "../fault.ts";
import type { Change } from "./feed.ts";
import { lineOf } from "./line-editor.ts";
import { wordsOf } from "./overlay-input.ts";
import type { Ports } from "./ports.ts";
import { type ActionView, type Asking, nameOf, type State, type Tab, taskOf } from "./state.ts";
import { onTab } from "./update.ts";

interface Surroundings {
  readonly ports: Ports;
  state(): State;
  apply(change: Change): void;
  /** Runs a command in the terminal, and comes back to the same place. */
  runCommand(words: readonly string[], isQuiet: boolean): Promise<void>;
  reread(ids: readonly string[]): Promise<void>;
}

/** Actions that a tab of the detail shows. */
const shown: Readonly<Record<string, Tab>> = {
  ...{ diff: "diff", findings: "findings", plan: "task file", peek: "terminal", logs: "terminal" },
  ...{ explain: "explain", history: "history" },
};
/** Actions that need a terminal, and after which nothing needs to be read there. */
const quiet: ReadonlySet<string> = new Set(["attach", "shell", "open", "edit"]);

/** Takes tasks' actions for a person: by their keys, after what the action asks first. */
export function createTaker({ ports, state, apply, runCommand, reread }: Surroundings) {
  const { call } = ports;
  const tell = (text: string, role: "good" | "bad" | "quiet", command = "") =>
    apply((before) => ({ ...before, notice: { text, role, command } }));

  /** The action of each task that has this key. */
  const find = async (key: string, ids: readonly string[]) => {
    const found: { id: string; name: string; revision: number; status: string; action: ActionView | undefined }[] = [];
    for (const id of ids) {
      const { task, actions } = await call(routes.listActions, { params: { task: id } });
      const { revision, status } = task;
      found.push({ id, revision, status, name: nameOf(task), action: actions.find((each) => each.key === key) });
    }
    return found;
  };

  const press = async (key: string, ids: readonly string[]) => {
    const before = ids.map((id) => taskOf(state(), id));
    const found = await find(key, ids);
    const [first] = found;
    if (first === undefined) return;
    const known = found.flatMap(({ action, ...rest }) => (action === undefined ? [] : [{ ...rest, action }]));
    if (known.length === 0) return tell(`"${key}" does nothing for ${first.name} now. ? shows what does.`, "quiet");
    const allowed = known.filter(({ action }) => action.allowed);
    const [one] = allowed;
    if (one === undefined) return tell(`${known[0]?.name}: ${known[0]?.action.why}`, "bad");
    const isOther = found.some(({ status }, i) => before[i] !== undefined && before[i]?.status !== status);
    if (isOther) {
      await reread(ids);
      return tell(`${first.name} has moved to ${first.status} meanwhile. Look again, then press the key again.`, "bad");
    }
    const others = known
      .filter(({ action }) => !action.allowed)
      .map(({ name, action }) => `Not ${name}: ${action.why}`);
    await begin({ action: one.action, tasks: allowed }, others);
  };

  const begin = async (ask: Asking, others: readonly string[]) => {
    const { name, command, label } = ask.action;
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
    const [first] = ask.tasks;
    if (first === undefined) return;
    const isMany = ask.tasks.length > 1 || others.length > 0;
    if (act === undefined) {
      if (isMany) return tell(`${label}: for one task at a time. Escape ends the selection.`, "quiet");
      const tab = shown[name];
      if (tab !== undefined) return apply((before) => onTab(before, tab));
      return runCommand(wordsOf(command).slice(1), quiet.has(name));
    }
    if (act.asksText !== undefined) {
      const prompt = isMany
        ? `${act.asksText}, to ${ask.tasks.map((each) => each.name).join(", ")}`
        : `${act.asksText}, to ${first.name}`;
      return apply((before) => ({
        ...before,
        notice: undefined,
        overlay: { kind: "say", ask, line: lineOf(""), prompt },
      }));
    }
    const dangers = new Set(ask.tasks.flatMap((each) => dangerOf(each.action) ?? []));
    if (dangers.size === 0 && !isMany) return perform(ask);
    const lines = [
      ...ask.tasks.map(
        (each) =>
          `${each.name} ${taskOf(state(), each.id)?.summary ?? ""}${dangers.size > 1 ? `: ${dangerOf(each.action) ?? ""}` : ""}`,
      ),
      ...(dangers.size === 1 ? dangers : []),
      ...others,
      ...(isMany ? [] : [`$ ${command}`]),
    ];
    const overlay = { kind: "confirm", ask, lines, isArmed: false } as const;
    apply((before) => ({ ...before, notice: undefined, overlay }));
    if (!isMerging(ask.action) || isMany) return;
    const outlook = await call(routes.mergeTask, { params: { task: first.id }, body: { dryRun: true } }).then(
      outlookOf,
      messageOf,
    );
    apply((before) =>
      before.overlay?.kind === "confirm" && before.overlay.ask === ask
        ? { ...before, overlay: { ...before.overlay, lines: [...lines, ...outlook] } }
        : before,
    );
  };

  const perform = async (ask: Asking, text?: string) => {
    const done: string[] = [];
    try {
      for (const { id, name, revision, action } of ask.tasks) {
        const act = Object.hasOwn(acts, action.name) ? acts[action.name] : undefined;
        if (act === undefined) continue;
        apply((before) => ({ ...before, notice: { text: `${name}: ${action.label} …`, role: "quiet", command: "" } }));
        const told = await act.send(call, id, action, { revision, ...(text === undefined ? {} : { text }) });
        const said = typeof told === "string" ? told : told.text;
        const command = commandWith(action, text);
        const what = `${name}: ${said}`;
        done.push(what);
        const back = backOf(action, id, taskOf(state(), id)?.status ?? "");
        apply((before) => ({
          ...before,
          chosen: new Set(),
          notice: { text: done.join(" "), role: "good", command },
          deeds: [...before.deeds, { at: before.now, what, command, back }],
        }));
      }
    } catch (error) {
      const [message = "", ...hints] = messageOf(error);
      const text_ = [...done, message, ...hints.slice(0, 1)].join(" ");
      // What the person wrote is not lost.
      apply((before) => ({
        ...before,
        notice: { text: text_, role: "bad", command: "" },
        ...(text === undefined || before.overlay !== undefined
          ? {}
          : { overlay: { kind: "say", ask, line: lineOf(text), prompt: message } as const }),
      }));
    } finally {
      // Also after a refusal: the task may be another than the one on the screen.
      await reread(ask.tasks.map(({ id }) => id)).catch(() => {});
    }
  };

  /** What the person can reply with, and the end of the agent's screen. */
  const peek = async (id: string) => {
    const [actions, screen] = await Promise.allSettled([
      call(routes.listActions, { params: { task: id } }),
      call(routes.getScreen, { params: { task: id }, query: { lines: "12", end: "true" } }),
    ]);
    apply((before) => {
      if (before.overlay?.kind !== "peek" || before.overlay.task !== id) return before;
      const lines =
        screen.status === "fulfilled" ? screen.value.text.split("\n").filter((line) => line.trim() !== "") : [];
      const found = actions.status === "fulfilled" ? replyIn(actions.value.actions) : undefined;
      const task = actions.status === "fulfilled" ? actions.value.task : undefined;
      const ask: Asking | undefined =
        found === undefined || task === undefined
          ? undefined
          : { action: found, tasks: [{ id, name: nameOf(task), revision: task.revision, action: found }] };
      return { ...before, overlay: { ...before.overlay, screen: lines, ...(ask === undefined ? {} : { ask }) } };
    });
  };

  const create = async (text: string) => {
    const [summary = "", ...context] = text.trim().split("\n");
    const project = state().filter.project ?? state().projects[0];
    if (project === undefined)
      return tell("There is no project yet. To make one, in its repository: signalbox init", "bad");
    try {
      const more = context.length === 0 ? {} : { context: context.join("\n") };
      const { task, warnings } = await call(routes.createTask, { body: { project, summary, ...more } });
      const command = `signalbox task create ${JSON.stringify(summary)} --project ${project}`;
      const what = `${nameOf(task)} is created.`;
      const back = `signalbox task cancel ${task.id}`;
      apply((before) => ({ ...before, deeds: [...before.deeds, { at: before.now, what, command, back }] }));
      tell([what, ...warnings].join(" "), "good", command);
      await reread([task.id]);
    } catch (error) {
      apply((before) => ({ ...before, overlay: { kind: "create", line: lineOf(text) } }));
      tell(messageOf(error).join(" "), "bad");
    }
  };

  const guarded =
    <Args extends readonly unknown[]>(run: (...args: Args) => Promise<void>) =>
    (...args: Args) =>
      void run(...args).catch((error) => tell(messageOf(error).join(" "), "bad"));
  return { press: guarded(press), perform: guarded(perform), peek: guarded(peek), create: guarded(create) };
}

/** Of the ways to say something, the one that the task waits for. */
function replyIn(actions: readonly ActionView[]): ActionView | undefined {
  const names = ["reply", "answer", "send", "request-changes"];
  return names
    .map((name) => actions.find((action) => action.name === name && action.allowed))
    .find((found) => found !== undefined);
}

/** The message of an error, then its hint. */
export function messageOf(error: unknown): readonly string[] {
  if (error instanceof Refusal) {
    const { message, hint } = writeRefusal(error.reasons);
    return [message, ...(hint === undefined ? [] : hint.split("\n"))];
  }
  if (error instanceof Fault) return [error.message, ...(error.hint ?? "").split("\n").filter((line) => line !== "")];
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ECONNREFUSED") return ["The daemon does not answer, so nothing was done."];
  return [error instanceof Error ? error.message : String(error)];
}

function outlookOf(merge: {
  commits: number;
  target: string;
  changed: readonly string[];
  reason: string;
  warnings: readonly string[];
  untested: string | null;
  pushed: { remote: string; commits: number | null } | null;
}): readonly string[] {
  const { commits, target, changed, reason, warnings, untested, pushed } = merge;
  const files = changed.length > 6 ? [...changed.slice(0, 6), `and ${changed.length - 6} more`] : changed;
  return [
    `${commits} ${commits === 1 ? "commit" : "commits"} into ${target}: ${files.join(", ") || "no file"}`,
    ...(untested === null ? [] : [untested === "off" ? "Merges are not tested here." : "No test command was found."]),
    ...(pushed === null ? [] : [`${pushOutlook({ target, pushed })}.`]),
    ...[reason, ...warnings].filter((each) => each !== ""),
  ];
}

/** How a person can take an action back. */
export function backOf(
  { name, consequence }: Pick<ActionView, "name" | "consequence">,
  id: string,
  status: string,
): string {
  if (isMerging({ name, consequence })) return undoCommand(id);
  const ways: Readonly<Record<string, string>> = {
    approve: `signalbox task request-changes ${id}`,
    cancel: `it stays cancelled; its branch can be continued: signalbox task create --from ${id}`,
    delete: "it stays deleted; its history is in the trash folder",
    kill: `signalbox task respawn ${id}`,
    spawn: `signalbox task cancel ${id}`,
    move: `signalbox task update ${id} --status ${status}`,
    continue: `signalbox task update ${id} --status ${status}`,
    "merge-cancel": `signalbox task merge ${id}`,
    send: `what an agent has read stays said; say something else: signalbox task send ${id}`,
  };
  return (
    (Object.hasOwn(ways, name) ? ways[name] : undefined) ??
    `no command does; see what can be done: signalbox task actions ${id}`
  );
}
