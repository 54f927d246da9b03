import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import { visible } from "../fast/tell.ts";
import { offerProjects } from "../offers.ts";
import { writeTable } from "../tables.ts";
import { writeJson } from "../text.ts";
import { command } from "./command.ts";
import { json, textFlag } from "./parameters.ts";

const movedForm = "{ branch, before, after, way, tasks, isKnown, blocks, setAside?, at }";

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
    fullDescription: `Agents in worktrees share your repository's branches. A branch is listed if, while an agent worked in a worktree, it was moved to commits of the agent, moved away from its commits, or deleted with its commits, and not in a checkout of yours. The commits that it had are kept, whatever you decide. If it was done in an agent's worktree, or the new commit was made there, you are called, and nothing is merged into the branch. Otherwise it may have been you: then it is only listed, for 30 days. The branch of a task whose parts work is restored at once, and listed with the commits that were set aside. Agents in clones cannot do this.

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
      const { before, after, setAside } = moved;
      if (setAside !== undefined)
        return this.say(
          `The commit ${after} is kept as ${setAside} in Signalbox's own repository, and is reported no more.`,
        );
      return this.say(
        decision === "restore"
          ? `"${visible(branch)}" is at ${before.slice(0, 10)} again.${after === "" ? "" : ` The commit ${after}, which it had until now, is kept in Signalbox's own repository.`}`
          : `"${visible(branch)}" stays ${after === "" ? "deleted" : `at ${after.slice(0, 10)}`}. Its earlier commit ${before} is kept in Signalbox's own repository.`,
      );
    }
    const answer = await call(routes.movedBranches, { params });
    if (json) return this.print(writeJson(answer));
    if (answer.branches.length === 0) return this.say(`No moved or deleted branch of ${name} is to be decided about.`);
    const columns = [
      { title: "BRANCH", paint: this.paint.bold },
      { title: "WAS AT" },
      { title: "IS AT" },
      { title: "MERGES" },
      { title: "TASKS" },
    ];
    const rows = answer.branches.map((each) => [
      each.branch,
      each.before.slice(0, 10),
      each.setAside === undefined ? each.after.slice(0, 10) || "deleted" : "restored",
      each.blocks ? "refused" : "go on",
      each.tasks.join(", "),
    ]);
    this.print(writeTable(columns, rows, this.tableWidth));
    this.say(`\nTo put one back: signalbox project branches ${name} --restore BRANCH, or to leave it: --accept BRANCH`);
  },
});
