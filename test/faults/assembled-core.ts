import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { createCore, type RunningCore } from "../../src/daemon/create-core.ts";
import { type Asked, createHandlers } from "../../src/daemon/handlers.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Project, Store } from "../../src/ports/store.ts";
import type { Clock, Log } from "../../src/ports/system.ts";

/** A daemon without its process, its socket and the system clock, on a database file. */
export interface Assembled {
  readonly core: RunningCore;
  /** The store itself, without its wrappers. */
  readonly store: Store;
  readonly errors: readonly unknown[];
  /** Calls a route by its name, as a person. */
  ask<Answer>(route: string, params: Readonly<Record<string, string>>, body?: unknown): Promise<Answer>;
}

export interface Assembling {
  readonly folder: string;
  readonly clock: Clock;
  readonly performers: Performers;
  /** Wraps the store. */
  readonly wrap?: (store: Store) => Store;
}

export function assemble({ folder, clock, performers, wrap = (store) => store }: Assembling): Assembled {
  const errors: unknown[] = [];
  const store = openSqliteStore(homePlaces(folder).database);
  let ids = 0;
  const core = createCore({
    version: "1.0.0",
    home: folder,
    store: wrap(store),
    clock,
    ids: { task: () => `t${++ids}`, secret: () => String(++ids).padStart(48, "0") },
    log: { ...silent, error: (message, fields) => void errors.push([message, fields]) },
    commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
    humanToken: "sbh_x",
    performers: () => performers,
    config: () => ({ values: {}, problems: [] }),
    stop: () => {},
  });
  const handlers = createHandlers(core);
  return {
    core,
    store,
    errors,
    ask: async (route, params, body = {}) => {
      const asked: Asked<unknown, unknown> = {
        params,
        query: {},
        body,
        caller: { kind: "human" },
        folder: "",
        lastEvent: "",
      };
      return (await handlers[route]?.(asked as Asked<never, never>, undefined as never)) as never;
    },
  };
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent, close: async () => {} };

/** Turns the folder into a home with a workflow of the user. */
export function furnish(folder: string, name: string, workflow: string): void {
  const places = homePlaces(folder);
  for (const each of [places.workflows, places.run]) mkdirSync(each, { recursive: true, mode: 0o700 });
  writeFileSync(join(places.workflows, `${name}.yml`), workflow);
}

export function coffee(folder: string, workflow: string): Project {
  return {
    name: "coffee",
    path: folder,
    defaultBranch: "main",
    poolSize: 4,
    workflow,
    harness: "",
    reviewHarness: "",
    branchPrefix: "",
    workspaces: "clone",
    createdAt: 0,
  };
}
