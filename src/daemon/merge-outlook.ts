import { isUnsettled } from "../engine/findings.ts";
import type { Task } from "../engine/task.ts";
import type { State } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Pushed } from "../ports/records.ts";
import { oneLine } from "../text.ts";
import type { Core } from "./core.ts";
import { placeAt, placeNameOf } from "./landing-place.ts";
import { mustHave } from "./project.ts";

// What a person should know before their word lets the workflow merge.

/** What the merge that `merging` makes would push, that its work was not tested, and which findings are open, as sentences. */
export async function mergeOutlook(core: Core, task: Task, merging: State, commit: string): Promise<string[]> {
  return [...(await pushSentence(core, task, merging)), ...untestedSentence(task, commit), ...openFindings(task)];
}

/** Whether the forge makes the merge that this state asks for: it merges a pull request of its own, and pushes nothing. */
export async function isOnForge({ store }: Pick<Core, "store">, { id }: Task, { do: work }: State): Promise<boolean> {
  if (!work.some(({ name }) => name === "merge_pr")) return false;
  const found = await store.pullRequests.get(id);
  return found?.state === "open" && found.url !== "";
}

async function pushSentence(core: Core, task: Task, merging: State): Promise<readonly string[]> {
  const { repositories, store } = core;
  if (repositories === undefined || (await isOnForge(core, task, merging))) return [];
  try {
    const project = await mustHave(core, task.project);
    const own = await repositories.workspacesOf(project);
    const { where } = await repositories.landingOf(project, own);
    const into = await placeNameOf(store, project, task);
    // The remote is not asked: what is known of it is enough for a warning.
    const place = placeAt({ store, where: "here" }, own, project, into);
    const pushed = await place.expectedPush(where, (await place.find()).base);
    return pushed === undefined ? [] : [pushText(into.target, pushed)];
  } catch (error) {
    // The merge itself reports what is wrong with the repository.
    if (error instanceof Fault) return [];
    throw error;
  }
}

function pushText(target: string, { remote, commits }: Pushed): string {
  const others =
    commits === undefined
      ? ", with all of your commits that are not there yet"
      : commits === 0
        ? ""
        : `, with ${commits === 1 ? "1 other commit of yours that is" : `${commits} other commits of yours that are`} not there yet`;
  return `The merge also pushes "${target}" to ${remote}${others}. To merge without pushing: signalbox config set push_merges false`;
}

function untestedSentence({ tested }: Task, commit: string): readonly string[] {
  if (tested?.word === "untested") return ["The work was not tested: no test command was found."];
  return tested?.word === "tests" && tested.commit === commit ? ["The tests of the work have failed."] : [];
}

function openFindings(task: Task): readonly string[] {
  const open = unsettledFindings(task);
  if (open.length === 0) return [];
  const named = open.slice(0, maxNamed).join("; ");
  const more = open.length > maxNamed ? `; and ${open.length - maxNamed} more` : "";
  const are = open.length === 1 ? "1 finding is" : `${open.length} findings are`;
  return [`${are} open: ${named}${more}. See them: signalbox task findings ${task.id}`];
}

const maxNamed = 5;

/** What reviews have found, and nobody has settled: a line each. */
export function unsettledFindings({ ledger }: Task): readonly string[] {
  const open = (ledger?.findings ?? []).filter(({ state }) => isUnsettled(state));
  return open.map(({ id, severity, title }) => `${id} (${severity}) ${oneLine(title)}`);
}
