import type { Perform, Performers } from "./perform.ts";

interface PerformerParts {
  /** Performers of the embedding process; tests put their own here. They take precedence. */
  readonly given: Performers;
  /** Undefined where the daemon starts no agents. */
  readonly agents: Performers | undefined;
  /** Undefined where there are no workspaces. */
  readonly git: Performers | undefined;
  /** Undefined where there is no forge. */
  readonly forge: Performers | undefined;
  /** Without agents or workspaces, this part of ending and releasing remains. */
  readonly withoutAgents: { readonly killAgent: Perform; readonly killSession: Perform };
  readonly withoutWorkspaces: { readonly releaseWorkspace: Perform };
  readonly runTests: Perform;
  readonly closeTicket: Perform;
  readonly startChildren: Perform;
  readonly stopChildren: Perform;
  readonly spawnNext: Perform;
}

/** The performer of each action. An action without a performer holds its task, with that as the reason. */
export function performersOf(parts: PerformerParts): Performers {
  const { given, agents, git, forge, withoutAgents, withoutWorkspaces } = parts;
  const table: Readonly<Record<string, Perform | undefined>> = {
    acquire_workspace: git?.acquire_workspace,
    close_ticket: parts.closeTicket,
    create_branch: git?.create_branch,
    create_pr: forge?.create_pr,
    delete_branch: git?.delete_branch,
    delete_remote_branch: forge?.delete_remote_branch,
    harvest_uncommitted: git?.harvest_uncommitted,
    kill_agent: agents?.kill_agent ?? withoutAgents.killAgent,
    kill_session: agents?.kill_session ?? withoutAgents.killSession,
    merge: git?.merge,
    merge_pr: forge?.merge_pr,
    name_branch: git?.name_branch,
    notify_agent: agents?.notify_agent,
    post_comment: forge?.post_comment,
    push_branch: forge?.push_branch,
    release_workspace: git?.release_workspace ?? withoutWorkspaces.releaseWorkspace,
    run_tests: parts.runTests,
    spawn_agent: agents?.spawn_agent,
    spawn_next: parts.spawnNext,
    start_children: parts.startChildren,
    stop_children: parts.stopChildren,
    sync_idle_agents: git?.sync_idle_agents,
    sync_repo: git?.sync_repo,
  };
  const names = new Set([...Object.keys(table), ...Object.keys(given)]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const perform = given[name] ?? table[name];
      return perform === undefined ? [] : [[name, perform]];
    }),
  );
}
