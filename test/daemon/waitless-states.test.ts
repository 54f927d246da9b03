import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { human, startGitStage } from "./git-stage.ts";

// States that wait for nothing are left as soon as they are entered; what they ask for is looked up for them.

const id = "w1111";

const flow = (states: string) => `
version: 1
states:
  todo: { waits_for: human, next: busy }
  ${states}
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
`;

const checked = flow(`busy: { waits_for: human, next: chk }
  chk: { outcomes: [{ when: merged == true, then: done }, { then: busy }] }`);

const skipped = flow(`busy: { waits_for: human, next: gate }
  gate: { waits_for: human, unless: merged == true, next: done }`);

const counted = flow(`busy: { waits_for: human, next: check }
  check: { outcomes: [{ when: new_commits > 0, then: wrong }, { then: right }] }
  wrong: { waits_for: human, next: done }
  right: { waits_for: human, next: done }`);

/** A task at work, with a commit of its own. */
async function startWork(workflow: string) {
  const stage = await startGitStage({ flow: workflow });
  const { core, git, repository } = stage;
  const { workspace } = await stage.begin(id);
  writeFileSync(join(workspace, "cup.md"), "full\n");
  git(workspace, "add", "-A");
  git(workspace, "commit", "-qm", "A cup");
  const caller = { kind: "human" } as const;
  const asked: Asked<object, undefined> = {
    ...{ params: { task: id }, query: {}, body: undefined, caller, folder: "", lastEvent: "" },
  };
  return {
    ...stage,
    /** As a person does by hand, in the user's own checkout. */
    merge() {
      git(repository, "fetch", "-q", workspace, "HEAD");
      git(repository, "merge", "-q", "FETCH_HEAD");
    },
    explain: () => explainTask(core)(asked),
    /** Continues, and returns the state in which the task then waits. */
    async goOn() {
      await core.submit(id, { kind: "continue", actor: human });
      await stage.until(id, ({ task }) => task.phase !== "entering");
      return (await stage.store.getTask(id))?.task.status;
    },
  };
}

test("a state that asks whether the work is merged sees a merge that was made while the task was in the state before", async () => {
  const { merge, goOn } = await startWork(checked);
  expect(await goOn()).toBe("busy");
  merge();
  expect(await goOn()).toBe("done");
});

test("a merge that was taken back before the state was entered does not count there", async () => {
  const { merge, explain, git, repository, goOn } = await startWork(checked);
  merge();
  await explain();
  git(repository, "reset", "-q", "--hard", "HEAD~1");
  expect(await goOn()).toBe("busy");
});

test("whether the wait of a state is skipped is decided with facts of the moment in which it is entered", async () => {
  const merged = await startWork(skipped);
  merged.merge();
  expect(await merged.goOn()).toBe("done");
  const undone = await startWork(skipped);
  undone.merge();
  await undone.explain();
  undone.git(undone.repository, "reset", "-q", "--hard", "HEAD~1");
  expect(await undone.goOn()).toBe("gate");
});

test("commits that were made in the state before are not new in the next one", async () => {
  const { goOn } = await startWork(counted);
  expect(await goOn()).toBe("right");
});
