import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { projectHere } from "../../find-project.ts";
import { given } from "../../given.ts";
import { type NamedTask, nameTask } from "../../name-task.ts";
import { runInTerminal } from "../../run-in-terminal.ts";
import { shellWord } from "../../shell-word.ts";

export async function attach(this: Context, { role }: { readonly role?: string }, reference?: string) {
  const call = createCall(this);
  const named = reference === undefined ? await onlyTask(call) : await nameTask(call, reference);
  const tmux = process.env.TMUX || undefined;
  const { argv, set, unset, hint } = await call(routes.attachTask, { ...named, body: given({ role, tmux }) });
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    this.say("This is no terminal, so nothing can be shown here. In a terminal, run:");
    const changes = [...unset.map((name) => `-u ${name}`), ...set.map(({ name, value }) => `${name}=${value}`)];
    this.print(["env", ...changes, ...argv].map((word) => (word.startsWith("-u ") ? word : shellWord(word))).join(" "));
    this.process.exitCode = exitCodes.failed;
    return;
  }
  this.say(hint);
  const failure = await runInTerminal(argv, { ...changedBy(set), ...Object.fromEntries(unset.map(emptied)) });
  if (failure === undefined) return this.say("You are back. Whatever is not over goes on.");
  throw new Fault("attach", `The terminal could not be shown: ${argv[0]} ${failure}.`, {
    hint: "See how the daemon's surroundings are: signalbox doctor",
  });
}

function changedBy(set: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(set.map(({ name, value }) => [name, value] as const));
}

const emptied = (name: string) => [name, undefined] as const;

/** Whoever names no task means the only one there is to look at. */
async function onlyTask(call: Call): Promise<NamedTask> {
  const project = (await projectHere(call))?.name;
  const { runs } = await call(routes.listRuns, { query: given({ project }) });
  const shown = runs.filter(({ mode, pid }) => mode === "session" && pid > 0);
  const [only, ...others] = [...new Set(shown.map(({ task }) => task))];
  if (only !== undefined && others.length === 0) return { params: { task: only }, query: {} };
  const where = project === undefined ? "" : ` in ${project}`;
  if (only === undefined)
    throw new Fault("run.missing", `No agent${where} has a terminal now.`, { hint: "See all: signalbox agent ps" });
  const names = [...new Set(shown.map((run) => `${run.project}#${run.number}`))];
  throw new Fault("usage", `Several tasks${where} have an agent with a terminal: ${names.join(", ")}.`, {
    hint: `Name one, such as: signalbox task attach ${names[0]}`,
  });
}
