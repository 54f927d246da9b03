import { relative } from "node:path";
import { bodyOf, parseTaskDocument, withSection } from "../../engine/task-document.ts";
import type { Gate, Way } from "../../engine/workflow.ts";
import type { Misbehaviour } from "./faults.ts";
import { bringMainIn, commitAll } from "./handiwork.ts";
import { sign } from "./handwriting.ts";
import type { Lots } from "./lots.ts";
import type { Programs } from "./programs.ts";
import type { Program, World } from "./world.ts";

export interface AgentPorts {
  readonly world: World;
  readonly programs: Pick<Programs, "finish" | "hasWindow">;
  /** Asks for a state over the API, with the credential of the run. Resolves when it is answered, if ever. */
  ask(program: Program, to: string, task: string): Promise<void>;
}

/** Somebody who does what an agent does, by lot: works, commits, writes sections, asks, says that it is done. */
export interface SimulatedAgent {
  begin(program: Program, how: Misbehaviour | undefined): void;
  /** A message has arrived. */
  hear(program: Program, text: string): void;
  /** Whoever sits in a window commits something, whether or not it is its turn. */
  meddle(): void;
}

const mostTurns = 12;

export function createAgent({ world, programs, ask }: AgentPorts): SimulatedAgent {
  const { clock, tails, terminal, processes, repositories, workflow } = world;
  const turns = new Map<string, number>();
  const manners = new Map<string, Misbehaviour | undefined>();

  const tell = (program: Program, event: object) => {
    const line = JSON.stringify(event);
    if (program.order.mode === "session") tails.append(`${program.order.runFolder}/events`, line);
    else processes.print(program.name, `${line}\n`);
  };
  const show = (program: Program, screen: string) => {
    if (program.order.mode === "session" && programs.hasWindow(program)) terminal.show(program.name, screen);
  };
  /** Does something later, if it is still alive then. */
  const later = (program: Program, milliseconds: number, act: () => void) =>
    clock.after(milliseconds, () => {
      if (program.isLive) act();
    });
  const folderOf = (program: Program) => repositories.folders.get(program.order.folder);

  const work = (program: Program, lots: Lots, commits: boolean) => {
    const folder = folderOf(program);
    if (folder === undefined || program.order.permissions === "reduced") return;
    // Some files are everybody's: there two tasks come to blows.
    const path = lots.chance(0.25) ? "recipe.md" : `${program.task}-${lots.between(1, 3)}.md`;
    const content = `work ${world.next()} ${sign(program, world.next())}`;
    folder.files.set(path, content);
    world.made.contents.add(content);
    if (commits) commit(program);
  };
  const commit = (program: Program) => {
    const id = commitAll(world, program.order.folder, "work");
    if (id !== undefined) world.note(`${program.run} of ${program.task} commits ${id.slice(0, 7)}`);
  };
  const write = (program: Program, section: string, body: string) => {
    const folder = folderOf(program);
    if (folder === undefined || program.order.taskFile === "") return;
    const name = relative(program.order.folder, program.order.taskFile);
    const before = parseTaskDocument(folder.taskFiles.get(name) ?? "");
    folder.taskFiles.set(name, bodyOf(withSection(before, section, body)));
    world.note(`${program.run} of ${program.task} writes ## ${section}`);
  };
  const fill = (program: Program, gate: Gate, lots: Lots, isSound: boolean) => {
    const lines = isSound
      ? [
          ...(gate.verdict === undefined ? [] : [`Verdict: ${gate.verdict}`]),
          ...gate.fields.map((field) => `${field}: ${lots.pick(["this", "that", "nothing"]) ?? ""}`),
        ]
      : ["Verdict: perhaps", ...gate.fields.map((field) => `${field}:`)];
    return [...lines, sign(program, world.next())].join("\n");
  };

  /** Where it may ask for the task to go, as the prompt would have told it. */
  const waysFor = async (program: Program): Promise<readonly Way[]> => {
    const task = (await world.store.getTask(program.task))?.task;
    const state = task && workflow.states[task.status];
    return Object.values(state?.out ?? {}).flat();
  };
  const isFor = (program: Program, { by, gates, to }: Way) =>
    gates.length > 0 && by !== undefined
      ? by.includes(program.role)
      : gates.some(({ section }) => (workflow.owners[section] ?? []).includes(program.role)) && to !== "";

  async function hand(program: Program, lots: Lots, how: Misbehaviour | undefined): Promise<void> {
    const all = await waysFor(program);
    const own = all.filter((way) => isFor(program, way));
    const way = lots.pick(how === "greedy" || how === "forge" ? all : own);
    if (way === undefined || !program.isLive) return;
    // Who forges does so also for what is to come: a verdict that nobody has given yet.
    const gated = workflow.ways.filter(({ gates }) => gates.length > 0);
    const gates = how === "forge" ? [...way.gates, ...(lots.pick(gated)?.gates ?? [])] : way.gates;
    for (const gate of gates)
      if (how !== "greedy") write(program, gate.section, fill(program, gate, lots, how !== "nonsense"));
    const other =
      how === "impostor"
        ? lots.pick((await world.store.listTasks({}, { limit: 9 })).map(({ task }) => task.id))
        : undefined;
    if (!program.isLive) return;
    // Who hears nothing asks again.
    ask(program, way.to, other ?? ".").catch(() => undefined);
  }

  const turn = (program: Program, text: string) => {
    const how = manners.get(program.name);
    const count = (turns.get(program.name) ?? 0) + 1;
    turns.set(program.name, count);
    const lots = world.lots(`${program.task} ${program.run} ${program.name} ${count}`);
    program.heard.push(text);
    program.isBusy = true;
    tell(program, { kind: "prompted", text });
    tell(program, { kind: "busy", what: "" });
    show(program, "busy");
    if (how === "hang") return;
    if (how === "die") {
      later(program, lots.between(1, 20_000), () =>
        programs.finish(program, lots.chance(0.5) ? { code: 1 } : { signal: "SIGKILL" }),
      );
    }
    const time = lots.between(500, 12_000);
    const hasEnough = count > mostTurns;
    later(program, time, () => {
      if (how === "idle" || hasEnough) return;
      if (lots.chance(/conflict/i.test(text) ? 0.9 : 0.3)) bringMainIn(world, program.order.folder);
      if (lots.chance(0.85)) work(program, lots, lots.chance(0.8));
    });
    if (program.order.mode === "session") {
      later(program, time + 1_000, () => {
        if (how !== "idle" && !hasEnough) void hand(program, lots, how);
      });
      if (how === "busybody")
        for (let more = 1_200; more < 60_000; more += lots.between(500, 4_000))
          later(program, time + more, () => work(program, lots, true));
      later(program, time + 2_500, () => {
        show(program, "ready");
        program.isBusy = false;
        tell(program, { kind: "idle", said: "" });
        if (lots.chance(0.2)) later(program, 1_500, () => programs.finish(program, { code: 0 }));
      });
      return;
    }
    later(program, time + 2_500, () => {
      const isDone = lots.chance(0.4) || count > 3 || hasEnough;
      const said = how === "nonsense" ? "{{{" : isDone ? "I did it.\nDONE" : "I did a step.";
      if (how === "nonsense") return programs.finish(program, { code: lots.between(0, 2) });
      processes.print(program.name, `${JSON.stringify({ kind: "result", text: said })}\n`);
      programs.finish(program, { code: 0 });
    });
  };

  return {
    begin(program, how) {
      manners.set(program.name, how);
      if (how !== undefined) world.note(`${program.run} of ${program.task} misbehaves: ${how}`);
      show(program, "starting");
      later(program, 800, () => {
        tell(program, { kind: "session", id: program.order.session.id, transcript: "" });
        if (program.order.prompt === "") {
          program.isBusy = false;
          show(program, "ready");
        } else turn(program, program.order.prompt);
      });
    },
    hear(program, text) {
      later(program, 50, () => turn(program, text));
    },
    meddle() {
      for (const program of world.programs.values())
        if (program.isLive && program.order.mode === "session")
          work(program, world.lots(`${program.name} meddles`), true);
    },
  };
}
