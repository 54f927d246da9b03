import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { resolveConfig } from "../../home/resolve-config.ts";
import { ask } from "../ask.ts";
import { askPermissions, mustAllow } from "../ask-permissions.ts";
import { configLayers } from "../config-layers.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../exit-code.ts";
import { shownTask } from "../name-task.ts";
import { wrapMessage } from "../wrap.ts";

/** Asks for full permissions where they are needed, then for something to do, and says how to go on. */
export async function firstTask(context: Context, call: Call, project: ProjectView): Promise<void> {
  const { say, talkPaint } = context;
  const { name } = project;
  if (!(await hasHarness(context, call, project))) return;
  const permissions = await call(routes.projectPermissions, { params: { project: name } });
  if (mustAllow(permissions)) {
    const allowed = await askPermissions(context, name, permissions);
    if (allowed === undefined) return left(context);
    if (!allowed) {
      say(`Then nothing is started for it. When you have changed your mind: signalbox`);
      return void say("To work on a task yourself: signalbox task create --no-spawn");
    }
    await call(routes.updateProject, { params: { project: name }, body: { fullPermissions: "allow" } });
    say("\n");
  }
  const summary = await ask("What is to be done first, in one line? (Enter for nothing yet)");
  if (summary === undefined) return left(context);
  if (summary === "") return void say('When you know: signalbox task create "What is to be done"');
  const { task, warnings } = await call(routes.createTask, { body: { project: name, summary } });
  say(`\n${talkPaint.bold(shownTask(task))} is created, with the id ${talkPaint.bold(task.id)}. How to go on:`);
  const steps = [
    ["signalbox status --watch", "see what happens"],
    [`signalbox task attach ${task.id}`, "sit down at its agent's terminal; F12 leaves"],
    [`signalbox task answer ${task.id}`, "when it asks you something"],
    [`signalbox task diff ${task.id}`, "see what it has changed"],
    [`signalbox task merge ${task.id}`, "when it is ready"],
    [`signalbox task actions ${task.id}`, "everything that you can do with it"],
    ["signalbox", "how things are, and what needs you"],
  ] as const;
  const width = Math.max(...steps.map(([command]) => command.length));
  for (const [command, what] of steps) say(`  ${talkPaint.cyan(command.padEnd(width))}  ${what}`);
  for (const warning of warnings) say(`${talkPaint.yellow("warning:")} ${warning}`);
}

/** Whether what its agents run in is installed; if not, it says what to do. */
async function hasHarness(context: Context, call: Call, project: ProjectView): Promise<boolean> {
  const wanted = resolveConfig(configLayers(context, project.path, project)).harness.value;
  const { harnesses } = await call(routes.listHarnesses, { query: { name: wanted } });
  const [harness] = harnesses;
  if (harness?.found) return true;
  context.process.exitCode = exitCodes.failed;
  const choose = `signalbox project update ${project.name} --harness`;
  const what = `Agents of ${project.name} run in ${harness?.title ?? wanted}, which is not installed. ${harness?.hint ?? ""}`;
  context.say(wrapMessage(what.trim(), context.columns));
  context.say("To see what is: signalbox harness list");
  context.say(`To choose another: ${choose} NAME`);
  context.say(`To see how it goes without any model: ${choose} scripted`);
  context.say("Then go on: signalbox");
  return false;
}

function left({ say, process }: Context): void {
  process.exitCode = exitCodes.failed;
  say("Nothing more was done. To go on from here: signalbox");
}
