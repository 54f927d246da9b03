import { route } from "./client.ts";
import { boolean, integer, list, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);

const projectWire = record({
  name: text,
  path: text,
  defaultBranch: text,
  poolSize: integer(1),
  workflow: text,
  harness: text,
  reviewHarness: text,
  branchPrefix: text,
  workspaces: oneOf("worktree", "clone"),
  /** Whether its agents may work with full permissions, or a person must allow it first. */
  fullPermissions: oneOf("allow", "ask"),
  createdAt: text,
});
export type ProjectView = TypeOf<typeof projectWire>;

const projectSettings = {
  defaultBranch: name,
  poolSize: integer(1, 1_000),
  workflow: name,
  harness: name,
  reviewHarness: name,
  branchPrefix: name,
  workspaces: oneOf("worktree", "clone"),
  fullPermissions: oneOf("allow", "ask"),
};

const changesWire = record({
  /** Covers everything that git would obey in the repository now: configuration, hooks, attributes. */
  fingerprint: text,
  changes: list(record({ name: text, change: oneOf("added", "changed", "removed") })),
});

const permissionsWire = record({
  allowed: boolean,
  /** The harnesses in which agents would have full permissions, with their roles. */
  needed: list(record({ harness: text, title: text, roles: list(text) })),
  workspaces: oneOf("worktree", "clone"),
  /** Whether all of these agents would run in a sandbox. */
  sandboxed: boolean,
});
export type PermissionsView = TypeOf<typeof permissionsWire>;

const movedWire = record(
  {
    branch: text,
    before: text,
    /** Empty if the branch was deleted. */
    after: text,
    way: oneOf("forward", "back", "apart", "deleted"),
    /** The tasks that had worktrees then; if `isKnown`, only those in which the new commit was made. */
    tasks: list(text),
    isKnown: boolean,
    /** Nothing is merged into the branch, and the tasks' person is called. Otherwise the user may as well have moved it. */
    blocks: boolean,
    at: text,
  },
  /** The ref that keeps the commits of a parent's branch, which was restored. */
  { setAside: text },
);

/** The routes about projects. */
export const projectRoutes = {
  announceConfig: route({
    name: "announceConfig",
    method: "POST",
    path: "/v1/config",
    summary: "Announce that a person changes a setting in a configuration file, so that history names the person",
    access: "person",
    isNoted: true,
    /** `file`: the changed file. `hash`: the hash of its new text. The value may be a secret, and is not sent. */
    body: record({ key: shortText(200), file: shortText(4_000), hash: shortText(100) }),
    answer: record({}),
  }),
  listProjects: route({
    name: "listProjects",
    method: "GET",
    path: "/v1/projects",
    summary: "List the projects",
    access: "person",
    answer: record({ projects: list(projectWire) }),
  }),
  addProject: route({
    name: "addProject",
    method: "POST",
    path: "/v1/projects",
    summary: "Register a repository: the one at a path, or a clone of the one at an address",
    access: "person",
    isNoted: true,
    body: record({ name }, { path: shortText(4_000), url: shortText(4_000), ...projectSettings }),
    answer: projectWire,
  }),
  getProject: route({
    name: "getProject",
    method: "GET",
    path: "/v1/projects/:project",
    summary: "Show a project",
    access: "person",
    answer: projectWire,
  }),
  projectWorkflow: route({
    name: "projectWorkflow",
    method: "GET",
    path: "/v1/projects/:project/workflow",
    summary: "Show the present workflow of the project's new tasks",
    access: "person",
    answer: record({
      name: text,
      from: oneOf("built-in", "user", "project", "file"),
      file: text,
      /** The SHA-256 of the text, by which tasks are pinned to it. */
      hash: text,
      text,
    }),
  }),
  updateProject: route({
    name: "updateProject",
    method: "PATCH",
    path: "/v1/projects/:project",
    summary: "Change a project's settings",
    access: "person",
    isNoted: true,
    body: record({}, { ...projectSettings, path: shortText(4_000) }),
    answer: projectWire,
  }),
  removeProject: route({
    name: "removeProject",
    method: "DELETE",
    path: "/v1/projects/:project",
    summary: "Forget a project and its ended tasks; the repository and the salvaged files stay",
    access: "person",
    isNoted: true,
    /**
     * The control repository with the salvaged work, the number of salvages, and the workspaces that could not be
     * removed.
     */
    answer: record({ control: text, salvaged: integer(0), left: list(text) }),
  }),
  projectPermissions: route({
    name: "projectPermissions",
    method: "GET",
    path: "/v1/projects/:project/permissions",
    summary: "Show which agents of such a task would work with full permissions, and whether a person has allowed it",
    access: "person",
    query: record({}, { workflow: shortText(4_000), harness: name, reviewHarness: name }),
    answer: permissionsWire,
  }),
  movedBranches: route({
    name: "movedBranches",
    method: "GET",
    path: "/v1/projects/:project/branches",
    summary: "List the user's branches that agents in worktrees may have moved or deleted",
    access: "person",
    answer: record({ branches: list(movedWire) }),
  }),
  settleBranch: route({
    name: "settleBranch",
    method: "POST",
    path: "/v1/projects/:project/branches",
    summary: "Restore such a branch, or accept it as it is",
    access: "person",
    isNoted: true,
    body: record({ branch: shortText(1_000), decision: oneOf("restore", "accept") }),
    answer: movedWire,
  }),
  projectChanges: route({
    name: "projectChanges",
    method: "GET",
    path: "/v1/projects/:project/changes",
    summary: "Show which git settings and hooks of the repository have changed since a person last approved them",
    access: "person",
    answer: changesWire,
  }),
  trustProject: route({
    name: "trustProject",
    method: "POST",
    path: "/v1/projects/:project/trust",
    summary: "Approve the repository's git settings and hooks as shown; held tasks continue",
    access: "person",
    isNoted: true,
    body: record({ fingerprint: name }),
    answer: changesWire,
  }),
} as const;
