import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGit } from "../../src/adapters/git/git.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { randomIds, spawnCommands, systemClock } from "../../src/adapters/system.ts";
import { ticketFiles } from "../../src/adapters/ticket-files.ts";
import { createAuthorise } from "../../src/daemon/authorise.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import { createHandlers, createUpgradings } from "../../src/daemon/handlers.ts";
import { createPage } from "../../src/daemon/http/page.ts";
import { type Answering, serveSocket, serveTcp } from "../../src/daemon/http/serve.ts";
import type { Upgrading } from "../../src/daemon/http/upgrade.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import { actions } from "../../src/engine/actions.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { ensureHumanToken } from "../../src/home/human-token.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Log } from "../../src/ports/system.ts";
import { realWorkspaces } from "../real-workspaces.ts";
import { removeFolder } from "../remove-folder.ts";
import { bearer, type Received, type Sent, ask as send } from "./http.ts";

/** A workflow that only people move. */
export const brew = `name: brew
version: 1
states:
  todo: { waits_for: human, next: brewing }
  brewing: { terminal: false }
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: brewing, to: served, by: human, gate: { section: "## Recipe" } }
  - { from: any, to: spilled, by: human }
`;

export interface StageOptions {
  readonly version?: string;
  readonly performers?: Performers;
  /** Whether workspaces are real; else they are never inspected. */
  readonly workspaces?: boolean;
  /** An earlier stage's home, to start again on. */
  readonly home?: string;
  /** The folder of the built page; nothing is served without it. */
  readonly page?: string;
  /** The factor by which timers are faster. */
  readonly haste?: number;
  /** Whether each answer is compared with its schema, which takes longer than most answers. */
  readonly checkAnswers?: boolean;
  /** Replaces what is done with WebSockets, by the name of their route. */
  readonly upgradings?: Readonly<Record<string, Upgrading>>;
}

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** The whole daemon in this process, with its own home; unless told otherwise, every answer is checked against its schema. */
export async function startStage(options: StageOptions = {}) {
  const { version = "1.2.3", performers = everyAction, home = newHome(), haste = 1 } = options;
  const { checkAnswers = true } = options;
  const places = homePlaces(home);
  for (const folder of [home, places.run, dirname(places.socket), places.workflows, places.workspaces, places.control])
    makePrivateFolder(folder);
  writeFileSync(join(places.workflows, "brew.yml"), brew);
  const complaints: unknown[] = [];
  const asked: string[] = [];
  let ahead = 0;
  let stops = 0;
  let publicOrigin = "";
  let configured: PartialConfig = { notifyDesktop: false };
  const log = silentLog((message, fields) => complaints.push([message, fields]));
  const store = openSqliteStore(places.database);
  const humanToken = ensureHumanToken(places);
  const core = createCore({
    version,
    home,
    store,
    clock: { now: () => systemClock.now() + ahead, after: (time, run) => systemClock.after(time / haste, run) },
    ids: randomIds,
    log,
    commands: spawnCommands,
    humanToken,
    performers: () => performers,
    ...(options.workspaces ? { workspacesOf: realWorkspaces(places).workspacesOf } : {}),
    git: createGit({ env: process.env }),
    ticketsOf: ({ path }) => ticketFiles(join(path, ".tickets")),
    config: () => ({ values: configured, problems: [] }),
    webDoor: {
      open: async () => tcp.address,
      close: async () => {},
      address: () => tcp.address,
      publicOrigin: () => publicOrigin,
    },
    stop: () => {
      stops++;
    },
  });
  const handlers = Object.entries(createHandlers(core)).map(([name, handler]): [string, Answering] => [
    name,
    (...args) => {
      asked.push(name);
      return handler(...args);
    },
  ]);
  const ports = {
    ...{ handlers: Object.fromEntries(handlers), callers: core.callers, authorise: createAuthorise(core) },
    ...{
      sessions: core.sessions,
      log,
      version,
      checkAnswers,
      upgradings: { ...createUpgradings(core), ...options.upgradings },
    },
    ...{ publicOrigin: () => publicOrigin, ...(options.page === undefined ? {} : { page: createPage(options.page) }) },
  };
  const socket = await serveSocket(ports, places.socket);
  const tcp = await serveTcp(ports, 0);
  await core.recover();

  return {
    home,
    places,
    core,
    version,
    human: humanToken,
    /** The names of the routes whose handlers were called. */
    asked,
    /** The logged errors. */
    complaints,
    stops: () => stops,
    /** Sets what the person's configuration says. */
    configure: (values: PartialConfig) => {
      configured = { notifyDesktop: false, ...values };
    },
    /** Sets the origin of a tunnel. */
    usePublicOrigin: (origin: string) => {
      publicOrigin = origin;
    },
    socket: { socket: places.socket },
    tcp: { address: tcp.address },
    /** Advances the clock; no timer fires. */
    pass: (milliseconds: number) => {
      ahead += milliseconds;
    },
    /** Sends a request over the socket; as the person, unless another token or none (`""`) is given. */
    ask: (path: string, { token = humanToken, ...rest }: Sent & { readonly token?: string } = {}): Promise<Received> =>
      send({ socket: places.socket }, path, {
        ...rest,
        headers: { ...(token === "" ? {} : bearer(token)), ...rest.headers },
      }),
    /** Waits until no effect is owed, and returns the task. */
    settled: async (task: string) => {
      for (let waited = 0; ; waited++) {
        const found = (await store.findTask(task))?.task;
        const owed = (await store.openEffects(found?.id ?? "")).some(({ state }) => state === "owed");
        if (found?.held !== undefined || (found?.phase !== "entering" && !owed)) return found;
        if (waited === 1_000) throw new Error(`${task} does not settle.`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close: async () => {
      await Promise.all([socket.close(), tcp.close()]);
      await core.close();
      await store.close();
    },
  };
}

const homes: string[] = [];

export function newHome(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-api-")));
  homes.push(base);
  return join(base, "home");
}

/** Removes every home that was made. */
export function removeHomes(): void {
  for (const base of homes.splice(0)) removeFolder(base);
}

/** A folder beside the home. */
export function folderBeside(home: string, name: string): string {
  const folder = join(dirname(home), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** An empty git repository beside the home. */
export function newRepository(home: string, name = "coffee"): string {
  const folder = folderBeside(home, name);
  execFileSync("git", ["init", "--quiet", "--initial-branch", "main", folder]);
  for (const [key, value] of Object.entries({ name: "A", email: "a@b" }))
    execFileSync("git", ["-C", folder, "config", `user.${key}`, value]);
  return folder;
}

/** Performers that do nothing and succeed. */
const everyAction: Performers = Object.fromEntries(Object.keys(actions).map((name) => [name, async () => {}]));

function silentLog(onError: (message: string, fields: unknown) => void): Log {
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: onError,
    with: () => log,
    close: async () => {},
  };
  return log;
}
