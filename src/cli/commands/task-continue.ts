import { Refusal } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { MeantFor } from "../../engine/reviewing.ts";
import { canAsk, confirm } from "../ask.ts";
import type { Context } from "../context.ts";
import { tellChange } from "../fast/tell.ts";
import { nameTask } from "../find.ts";
import { forEach } from "../tell.ts";
import { given } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, severalForm, taskExitCodes, tasks } from "./parameters.ts";

interface ContinueFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

const parameters = {
  positional: tasks,
  flags: { yes: flag("Continue although questions, findings or commits are left over"), json },
};

const ending = `--json: { kind, from, task, why, entry, effects, warnings }. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`;

export const continueTask = command({
  parameters,
  docs: {
    brief: "End a person's wait, or try a held task again",
    fullDescription: `If the task's state waits for a person, the task moves where its workflow says. If the task is held, the step that failed is started again. If an agent has open questions, if you have not decided about all findings that the next step depends on, or if the workflow merges commits that nobody has reviewed and you were not shown, you are asked on a terminal; elsewhere the command is refused without --yes.

${ending}`,
  },
  func(flags, ...references) {
    return goOn(this, flags, references);
  },
});

export const launchFixer = command({
  parameters,
  docs: {
    brief: "Let the approved findings of a review be fixed, and continue",
    fullDescription: `Only for a state that waits for your decision about findings: the task moves where its workflow says, as with signalbox task continue. In the workflow "pipeline" it continues with the fixer if you have approved findings, and else with the tests. Elsewhere the command is refused.

${ending}`,
  },
  func(flags, ...references) {
    return goOn(this, flags, references, "findings");
  },
});

export const clearError = command({
  parameters,
  docs: {
    brief: "Try a held task again",
    fullDescription: `Only for a held task: the step that failed is started again, as with signalbox task continue. A task that is not held is refused, so that the command never starts a task or takes your decision at a gate.

${ending}`,
  },
  func(flags, ...references) {
    return goOn(this, flags, references, "held");
  },
});

function goOn(
  context: Context,
  { yes, json }: ContinueFlags,
  references: readonly string[],
  only?: MeantFor,
): Promise<void> {
  return forEach(context, references, json, {
    act: async (own, call, reference) => {
      const named = await nameTask(call, reference);
      const ask = (unanswered: boolean) =>
        call(routes.continueTask, { ...named, body: given({ unanswered: unanswered || undefined, only }) });
      try {
        return await ask(yes);
      } catch (error) {
        const isLeft = error instanceof Refusal && error.reasons.some(({ code }) => leftOver.has(code));
        if (!isLeft || json || !canAsk()) throw error;
        const question = `${error.reasons[0]?.text} Continue nevertheless?`;
        return (await confirm(own, question, false)) ? ask(true) : undefined;
      }
    },
    tell: (own, change) => {
      if (change === undefined) return;
      tellChange(own, change);
      for (const warning of change.warnings) own.say(own.talkPaint.yellow(warning));
    },
  });
}

/** What a person may leave over when a task continues. */
const leftOver: ReadonlySet<string> = new Set(["unanswered", "undecided", "unreviewed"]);
