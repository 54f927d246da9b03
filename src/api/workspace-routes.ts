import { route } from "./route.ts";
import { boolean, integer, list, nullable, record, shortText, text } from "./wire.ts";
import { cleanedWire, salvagedWire, workspaceWire } from "./workspace-wires.ts";

const name = shortText(100);

/** What can be asked about the folders that agents work in, and about what they left there. */
export const workspaceRoutes = {
  listWorkspaces: route({
    name: "listWorkspaces",
    method: "GET",
    path: "/v1/workspaces",
    summary: "List the workspaces, what is in them and how much they take",
    access: "read",
    query: record({}, { project: name }),
    answer: record({
      workspaces: list(workspaceWire),
      /** In bytes. */
      size: integer(0),
      trash: record({ folders: integer(0), size: integer(0) }),
    }),
  }),
  cleanWorkspaces: route({
    name: "cleanWorkspaces",
    method: "POST",
    path: "/v1/workspaces/gc",
    summary: "Give back, take away and delete what nobody needs, or say what that would be",
    access: "human",
    body: record({}, { project: name, dryRun: boolean }),
    answer: record({ done: list(cleanedWire) }),
  }),
  listSalvage: route({
    name: "listSalvage",
    method: "GET",
    path: "/v1/salvage",
    summary: "List what was salvaged, the newest first",
    access: "read",
    query: record({}, { project: name }),
    answer: record({
      salvaged: list(salvagedWire),
      /** Projects whose salvage cannot be looked at, and why. */
      unreadable: list(record({ project: text, problem: text })),
    }),
  }),
  restoreSalvage: route({
    name: "restoreSalvage",
    method: "POST",
    path: "/v1/salvage/restore",
    summary: "Write what was salvaged into a new folder, or make a branch of it in the repository",
    access: "human",
    body: record({ ref: shortText(1_000) }, { folder: shortText(4_000), branch: name }),
    answer: record({ ref: text, folder: nullable(text), branch: nullable(text), commit: text }),
  }),
  dropSalvage: route({
    name: "dropSalvage",
    method: "POST",
    path: "/v1/salvage/drop",
    summary: "Forget what was salvaged under a ref",
    access: "human",
    body: record({ ref: shortText(1_000) }),
    answer: record({ ref: text, commit: text }),
  }),
} as const;
