import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { writeWhole } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import { createTurns, sharing } from "../../keyed.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { Terminal } from "../../ports/terminal.ts";
import {
  type Ask,
  asArgument,
  checkId,
  checkSocket,
  checkVersion,
  configurationFile,
  hasNoServer,
  hasNoTarget,
  runTmux,
  sessionTarget,
  shownText,
  type TmuxEnd,
  tmuxFault,
} from "./run-tmux.ts";
import { createScreens } from "./screens.ts";
import { configuration, createServerRecord, settings, titleOption } from "./server.ts";
import { checkKeys, pasteInto, plainText, pressInto, styledText, typedText } from "./typing.ts";
import {
  attachCommand,
  closeWindow,
  createDeathWatch,
  endLost,
  listPanes,
  openWindow,
  sweepLeft,
  type TmuxPane,
  windowMark,
} from "./windows.ts";

interface Tmux {
  /** The socket of our server. No other tmux server is ever touched. */
  readonly socket: string;
  /** The command that runs `launch.ts`; the order's file is its last argument. */
  readonly launcher: readonly string[];
  /** The file with our server's identity; by default beside the socket. */
  readonly record?: string;
  readonly table: ProcessTable;
  /** The folder of a run, so that `close` also finds a program whose window is lost, and processes that left it. */
  readonly folderOf?: (run: string) => string;
  /** Milliseconds between SIGTERM and SIGKILL when a window is closed. */
  readonly grace?: number;
  /** Milliseconds for tmux to answer. */
  readonly timeout?: number;
  readonly program?: string;
}

/** Windows in Signalbox's own tmux server. */
export function createTmux(tmux: Tmux): Terminal {
  const { socket, launcher, table, folderOf, grace = 1_500, timeout = 15_000, program = "tmux" } = tmux;
  const { record = `${socket}.server` } = tmux;
  const ending = { table, grace };
  const inTurn = createTurns();
  let ready: Promise<void> | undefined;
  const getReady = async () => {
    checkSocket(socket);
    await checkVersion(program);
    await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
    await writeWhole(configurationFile(socket), configuration, { mode: 0o600, fsync: false });
    // A running server does not read the configuration file.
    await call(settings);
  };
  const servers = createServerRecord({
    ...{ socket, table, file: record },
    isAnswering: async () => !hasNoServer(await plainCall(["show-options", "-s"])),
  });
  const plainCall: Ask = (args, input) =>
    runTmux({ program, socket, args, timeout, server: servers.pid, ...(input === undefined ? {} : { input }) });
  /** If the socket was deleted, revives it before the caller concludes that there is no server. */
  const call: Ask = async (args, input) => {
    const end = await plainCall(args, input);
    return hasNoServer(end) && (await servers.revive()) ? plainCall(args, input) : end;
  };
  const ask: Ask = async (args, input) => {
    ready ??= getReady();
    await ready.catch((error: unknown) => {
      // Check again next time: tmux may be installed in the meantime.
      ready = undefined;
      throw error;
    });
    return call(args, input);
  };
  const deaths = createDeathWatch(program, socket, ask);

  /** The panes of the last listing. Ids of panes never change. */
  let targets: ReadonlyMap<string, string> = new Map();
  const list = sharing(async () => {
    const { panes, server } = await listPanes(ask, table);
    if (server !== undefined) {
      await servers.seen(server);
      deaths.serverSeen(server);
    }
    targets = new Map(panes.map(({ run, id }) => [run, id]));
    return panes;
  });
  const find = async (run: string): Promise<TmuxPane> => {
    checkId(run);
    const pane = (await list()).find((each) => each.run === run);
    if (pane === undefined) throw gone(run);
    return pane;
  };
  const findAlive = async (run: string): Promise<TmuxPane> => {
    const pane = await find(run);
    if (pane.dead !== undefined) throw ended(run);
    return pane;
  };
  const capture = async (run: string, scrollback: number) => {
    const target = targets.get(checkId(run)) ?? (await find(run)).id;
    const lines = Math.max(0, Math.trunc(scrollback));
    const end = await ask(["capture-pane", "-p", "-e", "-J", "-t", target, ...(lines > 0 ? ["-S", `-${lines}`] : [])]);
    return check(run, "read a screen", end).stdout;
  };
  const close = (run: string) =>
    inTurn(run, async () => {
      const pane = (await list()).find((each) => each.run === run);
      const folder = folderOf?.(run);
      if (pane !== undefined) await closeWindow(ask, ending, pane, folder);
      else if (folder !== undefined) await endLost(ending, folder);
    });

  const screens = createScreens({
    ...{ program, socket, ask, onDeath: deaths.watch },
    find: async (run) => (await list()).find((each) => each.run === checkId(run)),
  });

  return {
    ...screens,
    open: (order) => inTurn(order.run, () => openWindow({ list, ask, table, launcher }, order)),
    list,
    paste: (run, text) =>
      inTurn(run, async () => {
        const { id } = await findAlive(run);
        const typed = typedText(text);
        if (typed === "") return;
        const { end, isDead } = await pasteInto(ask, id, run, typed);
        check(run, "paste", end);
        if (isDead) throw ended(run);
      }),
    press: (run, keys) =>
      inTurn(run, async () => {
        checkKeys(keys);
        const { id } = await findAlive(run);
        check(run, "press keys", await pressInto(ask, id, keys));
      }),
    capture: async (run, scrollback = 0) => plainText(await capture(run, scrollback)),
    captureStyled: async (run, scrollback = 0) => styledText(await capture(run, scrollback)),
    close: async (run) => close(checkId(run)),
    markOf: (run) => (folderOf === undefined ? undefined : windowMark(folderOf(checkId(run)))),
    sweep: async (run) => folderOf !== undefined && sweepLeft(ending, folderOf(checkId(run))),
    closeSession: async (session) => {
      checkId(session);
      const panes = (await list()).filter((each) => each.session === session);
      await Promise.all(panes.map(({ run }) => close(run)));
    },
    setTitle: async (session, title) => {
      const end = await ask(["set-option", "-t", sessionTarget(session), titleOption, asArgument(shownText(title))]);
      if (end.code !== 0 && !hasNoServer(end) && !hasNoTarget(end)) throw tmuxFault("set a title", end);
    },
    attachCommand: (at, env) => attachCommand(program, socket, at, env, targets.get(at.run ?? "")),
    watch: deaths.watch,
  };
}

function check(run: string, what: string, end: TmuxEnd): TmuxEnd {
  if (end.code === 0) return end;
  throw hasNoServer(end) || hasNoTarget(end) ? gone(run) : tmuxFault(what, end);
}

function gone(run: string): Fault {
  return new Fault("terminal.gone", `There is no window for the run "${run}".`, {
    hint: "Its session or the tmux server of Signalbox was closed. Start the run again.",
  });
}

function ended(run: string): Fault {
  return new Fault("terminal.ended", `The program of the run "${run}" has ended, and reads no more input.`, {
    hint: "Start the run again.",
  });
}
