import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import { visible } from "../fast/tell.ts";
import { offerProjects } from "../offers.ts";
import { writeTable } from "../tables.ts";
import { writeJson } from "../text.ts";
import { command } from "./command.ts";
import { json, textFlag } from "./parameters.ts";

const movedForm = "{ branch, before, after, way, tasks, isKnown, at }";

export const branches = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        { parse: String, proposeCompletions: offerProjects, placeholder: "NAME", brief: "A project's name" },
      ],
    },
    flags: {
      restore: textFlag("BRANCH", "Put this branch back to the commit that it had"),
      accept: textFlag("BRANCH", "Leave this branch as it is, and report it no more"),
      json,
    },
  },
  docs: {
    brief: "List branches of yours that agents in worktrees may have moved or deleted, and restore them",
    fullDescription: `Agents in worktrees share your repository's branches. A branch is listed if it was moved to commits of an agent, moved away from its commits, or deleted with its commits, while agents had worktrees, and not in a checkout of yours. You may have done it yourself: nobody can always tell. The commits that it had are kept until you decide, and afterwards. Nothing is merged into a listed branch. Agents in clones cannot do this.

--json: { branches: [${movedForm}] }. With --restore or --accept it is one of these
Exit codes: 0 ok, 1 it has moved again, or a checkout of yours has its files, 2 wrong usage, 3 no such project`,
  },
  async func({ restore, accept, json }, name) {
    if (restore !== undefined && accept !== undefined)
      throw new Fault("usage", "--restore and --accept cannot both be given.", { hint: "Leave one of them out." });
    const call = createCall(this);
    const params = { project: name };
    const branch = restore ?? accept;
    if (branch !== undefined) {
      const decision = restore === undefined ? "accept" : "restore";
      const moved = await call(routes.settleBranch, { params, body: { branch, decision } });
      if (json) return this.print(writeJson(moved));
      const { before, after } = moved;
      return this.say(
        decision === "restore"
          ? `"${visible(branch)}" is at ${before.slice(0, 10)} again.`
          : `"${visible(branch)}" stays ${after === "" ? "deleted" : `at ${after.slice(0, 10)}`}. Its earlier commit ${before} is kept in Signalbox's own repository.`,
      );
    }
    const answer = await call(routes.movedBranches, { params });
    if (json) return this.print(writeJson(answer));
    if (answer.branches.length === 0) return this.say(`No branch of ${name} was moved or deleted by an agent.`);
    const columns = [
      { title: "BRANCH", paint: this.paint.bold },
      { title: "WAS AT" },
      { title: "IS AT" },
      { title: "TASKS" },
    ];
    const rows = answer.branches.map((each) => [
      each.branch,
      each.before.slice(0, 10),
      each.after === "" ? "deleted" : each.after.slice(0, 10),
      each.tasks.join(", "),
    ]);
    this.print(writeTable(columns, rows, this.tableWidth));
    this.say(`\nTo put one back: signalbox project branches ${name} --restore BRANCH, or to leave it: --accept BRANCH`);
  },
});
