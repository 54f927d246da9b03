import type { Processes, ProcessOrder } from "../../ports/processes.ts";
import type { Terminal, WindowOrder } from "../../ports/terminal.ts";
import type { Program, World } from "./world.ts";

export interface ProgramsPorts {
  readonly world: World;
  /** A program has started. */
  started(program: Program): void;
  /** Something was put into the input of a session, and sent. */
  told(program: Program, text: string): void;
}

/** Puts programs into the windows and processes of a world: what is started lives until it is ended. */
export function createPrograms({ world, started, told }: ProgramsPorts) {
  const { terminal, processes, programs } = world;
  const begin = (name: string, env: WindowOrder["env"] | ProcessOrder["env"], folder: string) => {
    const { SIGNALBOX_TASK: task = "", SIGNALBOX_ROLE: role = "", SIGNALBOX_RUN: run = "" } = env;
    const order = world.orders.get(name) ?? world.orders.get(name.replace(/-\d+$/, ""));
    if (order === undefined) throw new Error(`Nobody has prepared the run ${name}.`);
    for (const other of programs.values()) {
      if (!other.isLive) continue;
      const same =
        other.task === task && other.run.slice(0, other.run.lastIndexOf("#")) === run.slice(0, run.lastIndexOf("#"));
      if (same)
        world.violate("at most one agent owns a task", `${run} of ${task} was started while ${other.run} lives.`);
      if (other.task !== task && other.order.folder === folder)
        world.violate("at most one agent owns a task", `${run} of ${task} works in the folder of ${other.task}.`);
    }
    const program: Program = { name, task, role, run, order, isLive: true, isBusy: true, heard: [], told: [] };
    programs.set(name, program);
    world.note(`${run} of ${task} starts`);
    started(program);
  };
  const end = (name: string) => {
    const program = programs.get(name);
    if (program?.isLive !== true) return;
    program.isLive = false;
    world.note(`${program.run} of ${program.task} is over`);
  };
  /** Programs without a window: nobody sees how they end. */
  const stranded = new Set<string>();
  const boxes = new Map<string, string>();
  terminal.onInput((name, input) => {
    if (input.kind === "paste") return void boxes.set(name, (boxes.get(name) ?? "") + input.text);
    const text = boxes.get(name) ?? "";
    const program = programs.get(name);
    if (!input.keys.includes("Enter") || text === "" || program?.isLive !== true) return;
    boxes.delete(name);
    program.told.push(text);
    told(program, text);
  });

  const ownTerminal: Terminal = {
    ...terminal,
    async open(order) {
      const before = terminal.started.length;
      const pane = await terminal.open(order);
      if (terminal.started.length > before) begin(order.run, order.env, order.cwd);
      return pane;
    },
    async close(run) {
      await terminal.close(run);
      end(run);
    },
    async closeSession(session) {
      const panes = (await terminal.list()).filter((pane) => pane.session === session);
      await terminal.closeSession(session);
      for (const { run } of panes) end(run);
    },
  };
  const ownProcesses: Processes = {
    ...processes,
    async start(order) {
      const before = processes.started.length;
      await processes.start(order);
      if (processes.started.length > before) begin(order.id, order.env, order.cwd);
    },
    async kill(id) {
      await processes.kill(id);
      end(id);
    },
    async sweep(_, entry) {
      const left = [...programs.values()].filter(({ name, isLive }) => isLive && entry.endsWith(`/${name}/events`));
      for (const { name, order } of left) {
        await (order.mode === "session" ? terminal.close(name) : processes.kill(name));
        end(name);
      }
      return left.length > 0;
    },
  };
  return {
    terminal: ownTerminal,
    processes: ownProcesses,
    /** The program ends by itself, or is killed from outside. */
    finish(program: Program, how: { readonly code: number } | { readonly signal: string } | "lost") {
      if (!program.isLive) return;
      end(program.name);
      if (stranded.has(program.name)) return;
      if (program.order.mode === "session") terminal.end(program.name, how === "lost" ? { signal: "SIGKILL" } : how);
      else if (how === "lost") processes.lose(program.name);
      else processes.end(program.name, how);
    },
    /** Whether what it shows can still be seen. */
    hasWindow: ({ name }: Program) => !stranded.has(name),
    /** The server cannot be reached any more, and its programs go on. */
    strandServer() {
      for (const { name, order } of programs.values()) if (order.mode === "session") stranded.add(name);
      terminal.loseServer();
    },
    /** All windows go at once, and the server with them. */
    loseServer() {
      for (const program of programs.values()) if (program.order.mode === "session") end(program.name);
      terminal.loseServer();
    },
  };
}

export type Programs = ReturnType<typeof createPrograms>;
