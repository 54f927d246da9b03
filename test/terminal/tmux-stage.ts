import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createTmux } from "../../src/adapters/tmux/tmux.ts";
import { removeFolder } from "../remove-folder.ts";
import { procTable } from "./proc-table.ts";
import type { Told } from "./puppet.ts";
import type { TerminalStage } from "./stage.ts";
import { until } from "./until.ts";

export const launcher = [process.execPath, resolve(import.meta.dirname, "../../src/adapters/tmux/launch.ts")];
const puppet = join(import.meta.dirname, "puppet.ts");
const run = promisify(execFile);

export interface TmuxStage extends TerminalStage {
  readonly folder: string;
  readonly socket: string;
  folderOf(run: string): string;
  /** Sends a command to the server directly. */
  tmux(...args: readonly string[]): Promise<string>;
  serverPid(): Promise<number>;
}

export async function createTmuxStage(options: { readonly grace?: number } = {}): Promise<TmuxStage> {
  const folder = await mkdtemp(join(tmpdir(), "sb-t-"));
  const socket = join(folder, "tmux");
  const folderOf = (of: string) => join(folder, "runs", of);
  const terminal = createTmux({ socket, launcher, table: procTable, folderOf, ...options });
  const tmux = async (...args: readonly string[]) => (await run("tmux", ["-S", socket, ...args])).stdout;
  const serverPid = async () => Number(await tmux("display-message", "-p", "#{pid}"));
  const textOf = (of: string, name: string) => readFile(join(folderOf(of), name), "utf8").catch(() => "");
  const orderOf: TerminalStage["orderOf"] = (order) => ({
    session: "s-1",
    title: "project/branch",
    window: "worker",
    folder: folderOf(order.run),
    argv: [process.execPath, puppet, folderOf(order.run)],
    cwd: folder,
    env: { PATH: process.env.PATH ?? "" },
    ...order,
  });
  return {
    terminal,
    folder,
    socket,
    folderOf,
    tmux,
    serverPid,
    orderOf,
    open: async (order) => {
      const pane = await terminal.open(orderOf(order));
      await until(
        () => terminal.capture(order.run),
        (screen) => screen.includes("ready"),
      );
      return pane;
    },
    print: (of, text) => tell(folderOf(of), { print: text.replaceAll("\n", "\r\n") }),
    call: (of, title) => tell(folderOf(of), { print: `\x1b]2;${title}\x1b\\` }),
    end: (of, how) => tell(folderOf(of), "code" in how ? { exit: how.code } : { kill: how.signal }),
    received: async (of) => (await textOf(of, "received")).replaceAll("\x1b[200~", "<").replaceAll("\x1b[201~", ">"),
    starts: async (of) => (await textOf(of, "starts")).split("\n").length - 1,
    loseServer: async () => process.kill(await serverPid(), "SIGKILL") && undefined,
    clear: async () => {
      const sessions = new Set((await terminal.list()).map(({ session }) => session));
      await Promise.all([...sessions].map((session) => terminal.closeSession(session)));
      await tmux("kill-server").catch(() => {});
      removeFolder(folder);
    },
  };
}

function tell(folder: string, told: Told): Promise<void> {
  return new Promise((done, reject) => {
    const connection = connect(join(folder, "socket"), () => connection.write(`${JSON.stringify(told)}\n`));
    connection.resume();
    connection.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? done() : reject(error)));
    connection.on("close", () => done());
  });
}
