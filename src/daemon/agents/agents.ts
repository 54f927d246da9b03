import { dirname, join } from "node:path";
import { defaultNames } from "../../engine/run-spec.ts";
import type { Task } from "../../engine/task.ts";
import { createTurns } from "../../keyed.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Tails } from "../../ports/tail.ts";
import { roleFileName } from "../../ports/workspaces.ts";
import type { Performers } from "../perform.ts";
import { missingRepository } from "../project.ts";
import {
  type Brake,
  createAwaitLogin,
  createBrake,
  type EndedRun,
  endByPerson,
  killAgent,
  killSession,
} from "./brake.ts";
import { createTreeBudgets, type TreeBudgets } from "./budgets.ts";
import { checkRun, raiseFault } from "./check-run.ts";
import { capsOf, createDispatch, type Dispatch, seatOf } from "./dispatch.ts";
import { createKiller, endRun, healRun, noteEnding, raise } from "./heal-run.ts";
import { createMail, type Mail, tellAgent } from "./messages.ts";
import type { Pauses } from "./pauses.ts";
import { createPollInterval } from "./poll-interval.ts";
import { countedOf, readTurnOutput } from "./read-turn.ts";
import { recoverRuns } from "./recover-runs.ts";
import { createRoster, nameOf, type ProjectModels, type Roster } from "./roster.ts";
import { eventsFile, isWanted, sessionTitle, terminalSession } from "./run-order.ts";
import { type ReportedEnd, reportEnd } from "./run-record.ts";
import { createPanes, createStrangers, type TerminalTrouble } from "./run-signs.ts";
import { createIdle, createSleepers, taskRank } from "./sleepers.ts";
import { type OwnStartPorts, type StartPorts, spawnAgent } from "./start-run.ts";
import { checkCosts, createUsageBook, type UsageBook } from "./usage.ts";
import { limitsOf, type RunWatch, watchRun } from "./watch-run.ts";

export interface AgentsPorts extends Omit<StartPorts, keyof OwnStartPorts> {
  readonly tails: Tails;
  readonly pauses: Pauses;
  /** The models of a project, and which may take the place of which. */
  modelsOf(project: string): Promise<ProjectModels>;
  onError(error: unknown): void;
}

/** Starts agents, watches them, sends them messages and ends them. */
export interface Agents {
  readonly performers: Performers;
  readonly dispatch: Dispatch;
  readonly roster: Roster;
  readonly book: UsageBook;
  readonly budgets: TreeBudgets;
  readonly mail: Mail;
  readonly pauses: Pauses;
  readonly ports: AgentsPorts;
  /** The runs that are being watched. */
  watches(): readonly RunWatch[];
  watchOf(run: string): RunWatch | undefined;
  /** Why agents in windows cannot be sent messages; undefined while the terminal server answers. */
  terminalTrouble(): TerminalTrouble | undefined;
  /**
   * Calls `tell` after every check of a run, whether or not anything changed. Returns the function that unsubscribes.
   */
  follow(tell: (run: string) => void): () => void;
  /** Ends programs on a person's order, before any other check. */
  readonly brake: Brake;
  /** Ends a run that its task still wants, then reports the end to the engine, which decides what follows. */
  end(run: Run, end: ReportedEnd): Promise<EndedRun>;
  /** An idle run whose program was ended to make room: the run is alive but has no program. */
  isAsleep(run: string): boolean;
  /** A person has control of a run's terminal: until the returned function is called, its program is not put to sleep. */
  attend(run: string): () => void;
  /** Starts the program of a sleeping run so that a person can see it; undefined where the run is not asleep. */
  wakeUp(run: string): Promise<Run | undefined>;
  noticed(stored: StoredTask): void;
  /** The limits in the configuration may have changed. */
  configured(): void;
  /** After a start: adopts the runs that are still wanted, and ends the others. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export function createAgents(given: AgentsPorts): Agents {
  const { store, clock, terminal, processes, places, tails, harnesses, config, onError } = given;
  const inTurn = createTurns();
  const watches = new Map<string, { watch: RunWatch; unwatch: () => void }>();
  const strangers = createStrangers({ store, raise: (watch, reason) => raise(given, watch, reason) });
  const roster = createRoster({ store, clock, harnesses, config, modelsOf: given.modelsOf });
  const dispatch = createDispatch({
    ...{ roster, clock, caps: () => capsOf(config()), paused: given.pauses.why },
    rankOf: (task) => taskRank(given, task),
  });
  const days = () => ({ projectDay: config().budgetProjectDay, day: config().budgetDay });
  const book = createUsageBook(store, days, (run, task) =>
    given.log.warn("A run reported a use that cannot be true; its use counts as unknown", { task, run }),
  );
  const budgets = createTreeBudgets({ store, book, dispatch, config });
  const folderOf = (name: string) => join(places.runs, name);
  let isStopped = false;
  let cancelPoll = () => {};
  const underWay = new Set<Promise<unknown>>();
  const track = (work: Promise<unknown>) => {
    const safe = work.catch((error) => isStopped || onError(error));
    underWay.add(safe);
    safe.finally(() => underWay.delete(safe));
  };

  const panes = createPanes({ terminal, clock, onError });
  const followers = new Set<(run: string) => void>();
  const look = async (watch: RunWatch, begins = () => {}) => {
    await inTurn(watch.run.id, () => {
      begins();
      return checkRun(given, watch, panes.seen, () => isWatched(watch));
    });
    seat(watch);
    for (const tell of followers) tell(watch.run.id);
  };
  const lookAtAll = async () => {
    for (const run of strangers.list()) if (harnesses().has(run.harness)) watch(run);
    const all = [...watches.values()];
    const hasSessions = all.some(({ watch }) => watch.started.mode === "session");
    const answers = hasSessions && (await panes.tryToLook());
    await Promise.all(all.map(({ watch }) => look(watch).catch(onError)));
    // A message that could not be delivered while the terminal did not answer is retried, even if no event wakes it.
    if (answers) for (const { watch } of watches.values()) if (mail.waits(watch)) mail.wake(watch);
    sleepers.tend([...watches.values()].map(({ watch }) => watch));
  };
  const poll = () => {
    cancelPoll();
    if (isStopped || watches.size + strangers.list().length === 0) return;
    const isUrgent = [...watches.values()].some(
      // A busy run will produce events, and a run that waits for a seat is woken when it gets one.
      ({ watch: { run, signs }, watch }) =>
        watch.hasMore ||
        signs.activity === "starting" ||
        (mail.waits(watch) && signs.activity !== "busy" && dispatch.whyRunWaits(run.id) === undefined),
    );
    cancelPoll = clock.after(interval.current(isUrgent), () => track(lookAtAll().finally(poll)));
  };
  const interval = createPollInterval((run) => watches.has(run), poll);

  const finish = async ({ run }: RunWatch, end: ReportedEnd) => void (await over(run, end));
  /** Where the end cannot be saved because the disk is full, it is reported later; until then the run stays watched. */
  const over = async (run: Run, reported: ReportedEnd) => {
    const end = await withoutRepository(run, reported);
    const answer = await reportEnd({ ...given, stuck: tellStuck }, run.task, run.key, end).catch(async (error) => {
      await raiseFault(given, watches.get(run.id)?.watch, error);
      throw error;
    });
    unwatch(run.id);
    stranded.delete(run.id);
    sleepers.forget(run.id);
    dispatch.left(run.id);
    track(book.close(run, clock.now()).then(() => mail.giveUp(run)));
    return answer;
  };
  /** Runs that ended in a worktree while its repository was moved away: a failure of them is not the agent's. */
  const stranded = new Set<string>();
  const withoutRepository = async ({ id, task }: Run, end: ReportedEnd): Promise<ReportedEnd> => {
    if (!["error", "exit", "invalid"].includes(end.word)) return end;
    if ((await missingRepository(given.store, task)) !== undefined) stranded.add(id);
    return stranded.has(id) ? { word: "lost", reason: "The repository was moved while the agent worked." } : end;
  };
  /** The agent of this run is stuck, unless a person has continued the task meanwhile. */
  const tellStuck = (run: Run, label: string) => {
    roster.stuck(run, label);
    track(store.getTask(run.task).then((stored) => stored && clearStuck(stored)));
  };
  const clearStuck = async (stored: StoredTask) => {
    const cleared = roster.noticed(stored);
    for (const agent of cleared) await roster.clear(agent);
    if (cleared.length > 0) dispatch.wake();
  };
  /** Releases the agents of runs that the task does not want, and that were never started, or are over. */
  const releaseAgents = async (task: Task) => {
    for (const run of roster.runsOf(task.id)) {
      if (isWanted(task, nameOf(run)) || dispatch.isSeated(run) || watches.has(run)) continue;
      if ((await store.runs.get(run))?.endedAt !== undefined) dispatch.left(run);
    }
  };
  const unwatch = (run: string) => {
    const found = watches.get(run);
    found?.watch.close();
    found?.unwatch();
    watches.delete(run);
    strangers.forget(run);
    idle.forget(run);
    interval.forget(run);
  };
  const isWatched = (watch: RunWatch) => watches.get(watch.run.id)?.watch === watch;
  /** A working run has a seat. A run that is idle or waits in a dialog releases it until it continues. */
  const seat = (watch: RunWatch) => {
    const { activity } = watch.signs;
    if (watch.started.mode !== "session" || !isWatched(watch)) return;
    if (activity === "busy" || activity === "starting") dispatch.seated(seatOf(watch.run));
    else if (activity !== "unknown" && !mail.isTelling(watch)) dispatch.rests(watch.run.id);
  };
  const brake = createBrake({
    ...{ store, clock, terminal, processes, places, onError },
    known: () => [...[...watches.values()].map(({ watch }) => watch.run), ...strangers.list()],
    async note(run, { word, reason }) {
      const watched = watches.get(run.id)?.watch;
      if (watched !== undefined) return noteEnding(watched, { word, reason });
      const { started } = run;
      if (started !== undefined) await store.runs.put({ ...run, started: { ...started, ending: { word, reason } } });
    },
  });
  const starting = { unlessHeld: brake.unlessHeld, released: brake.released };
  const raising = (watch: RunWatch, reason: string) => raise(given, watch, reason);
  const mail = createMail({
    ...{ store, clock, terminal, inTurn, raise: raising, isStopped: () => isStopped },
    look: async (watch) => {
      await panes.look();
      await look(watch);
    },
    takeSeat: ({ run }) =>
      dispatch.enter(seatOf(run)).then(
        () => true,
        () => false,
      ),
    watchOf: (run) => watches.get(run)?.watch,
    rouse: (run) => sleepers.rouse(run),
    told: seat,
    track,
  });
  const sleepers = createSleepers({
    ...{ ...given, ...starting, dispatch, mail, inTurn, track, isWatched },
    unwatch: (run) => unwatch(run),
    watch: (run) => watch(run),
    end: (run, end) => inTurn(run.id, () => over(run, end)),
  });
  const idle = createIdle({ store, clock, submit: given.submit, mail, dispatch });
  const costs = checkCosts({ ...given, book, end: (watch, ending) => endRun({ ...given, finish }, watch, ending) });
  const awaitLogin = createAwaitLogin({ clock, end: (watch, ending) => endRun({ ...given, finish }, watch, ending) });
  const healing = healRun({
    ...{ ...given, ...starting, dispatch, book, runFolder: folderOf, finish, idle: idle.noticed, awaitLogin },
    rewatch: (run) => watch(run),
  });
  const heal: typeof healing = async (watch, found) => {
    if (!brake.isOn(watch.run.id)) await healing(watch, found);
  };
  const watch = (run: Run) => {
    const harness = harnesses().get(run.harness);
    if (isStopped || run.started === undefined) return;
    unwatch(run.id);
    if (harness === undefined) {
      track(strangers.meet({ ...run, started: run.started }));
      return poll();
    }
    const made = watchRun(
      {
        ...{ store, clock, terminal, tails, book, table: given.table, heal },
        limitsOf: (each) => interval.heed(each.id, limitsOf(given, each)),
        readingOf: (each, of: Harness) =>
          readTurnOutput(
            processes,
            of,
            each.started as StartedRun,
            folderOf(run.started?.name ?? ""),
            countedOf(book.of(each.id), each.started as StartedRun).offset,
          ),
        eventsFile: ({ name }) => eventsFile(places, name),
        since: panes.looks,
        taskFileOf: ({ role }) => (role === defaultNames.roles.task ? "TASK.md" : roleFileName(role)),
        learnt(each) {
          // The check may have found that the run has ended: then its record is closed, and must stay closed.
          if (!isWatched(each)) return;
          if (each.started.raised !== "" && each.trouble === "" && each.signs.activity === "busy")
            track(each.keep({ started: { ...each.started, raised: "" } }));
          // Inside the run's mutex: the reason for ending it must be stored before its end is noticed.
          track(inTurn(each.run.id, async () => (isWatched(each) ? costs(each) : undefined)));
          mail.wake(each);
        },
      },
      { ...run, started: run.started },
      harness,
    );
    let isAboutToLook = false;
    // One check covers all changes before it. A run that writes more than a check reads is left to the poll.
    const stopWatching = tails.watch(dirname(eventsFile(places, run.started.name)), () => {
      if (isAboutToLook || made.hasMore) return;
      isAboutToLook = true;
      track(
        look(made, () => {
          isAboutToLook = false;
        }),
      );
    });
    watches.set(run.id, { watch: made, unwatch: stopWatching });
    // A run without a terminal asks nothing of tmux, which may not be installed.
    track((run.started.mode === "session" ? panes.look() : Promise.resolve()).then(() => look(made)));
    poll();
  };

  const stopTerminal = terminal.watch(() => track(lookAtAll()));
  const stopProcesses = processes.watch((id) => {
    const found = [...watches.values()].find(
      ({ watch }) => id === watch.started.name || id.startsWith(`${watch.started.name}-`),
    );
    if (found !== undefined) track(look(found.watch));
  });

  const { kill, close } = createKiller({
    ...{ ...given, track, isStopped: () => isStopped },
    /** Stops watching, so that the killed run is not reported as dead. The watch still reads what the run wrote. */
    forget(run) {
      const watched = watches.get(run.id)?.watch;
      unwatch(run.id);
      sleepers.forget(run.id);
      return watched;
    },
    async ended(run, watched) {
      if (watched !== undefined) await inTurn(run.id, watched.readRest);
      await book.close(run, clock.now());
      await mail.giveUp(run);
      dispatch.left(run.id);
    },
  });
  /** A task is over: ends the runs that its workflow has left, and closes the task's windows. */
  const endTask = async (task: string) => {
    sleepers.forgetTask(task);
    const own = [...watches.values()].filter(({ watch }) => watch.run.task === task);
    for (const { watch } of own) await kill(watch.run);
    const hasWindows = [...panes.seen.panes.values()].some(({ session }) => session === terminalSession(task));
    if (hasWindows || own.length > 0) await terminal.closeSession(terminalSession(task));
  };
  const halt = (run: Run) =>
    given.pauses.isHalted(run.project) && track(end(run, { word: "lost", reason: "A person has paused everything." }));
  const killOne = killAgent({ ...given, kill });
  const own: OwnStartPorts = {
    ...{ ...starting, dispatch, book, budgets, watch, tell: mail.tell, paused: given.pauses.why, launched: halt },
    discard: (task, run) => killOne({ action: "kill_agent", params: { run } }, { task, key: "" }),
  };
  const end = endByPerson({ brake, clock, inTurn, track, over, watch, watchOf: (run) => watches.get(run)?.watch });

  return {
    ports: given,
    dispatch,
    roster,
    book,
    budgets,
    mail,
    pauses: given.pauses,
    watches: () => [...watches.values()].map((each) => each.watch),
    watchOf: (run) => watches.get(run)?.watch,
    terminalTrouble: panes.trouble,
    follow(tell) {
      followers.add(tell);
      return () => void followers.delete(tell);
    },
    performers: {
      spawn_agent: spawnAgent({ ...given, ...own }),
      notify_agent: tellAgent({ ...given, mail }),
      kill_agent: killOne,
      kill_session: killSession({
        ...given,
        kill,
        closeSession: (task) => terminal.closeSession(terminalSession(task)),
      }),
    },
    brake,
    end,
    ...{ isAsleep: sleepers.isAsleep, attend: sleepers.attend, wakeUp: sleepers.wake },
    noticed(stored) {
      const { task, isOpen } = stored;
      if (!isOpen) track(endTask(task.id));
      dispatch.recheck(task.id, (run) => isWanted(task, nameOf(run)));
      track(clearStuck(stored));
      if (roster.runsOf(task.id).length > 0) track(releaseAgents(task));
      dispatch.moved(task.id);
      if (isOpen) track(sleepers.noticed(task));
      if (task.tmuxSession === "" || task.tmuxSession === sessionTitle(task) || !isOpen) return;
      // The task's branch was renamed.
      const title = sessionTitle(task);
      track(terminal.setTitle(terminalSession(task.id), title));
      track(given.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { tmuxSession: title } }));
    },
    configured() {
      dispatch.wake();
      track(lookAtAll());
    },
    recover: () =>
      recoverRuns({
        ...{ given, book, panes, dispatch, roster, kill, close, watch, onError, tellStuck },
        adoptIdle: async (run) => idle.adopted(run.id, await mail.lastTold(run)),
        adoptAsleep: sleepers.adopted,
      }),
    async stop() {
      isStopped = true;
      cancelPoll();
      stopTerminal();
      stopProcesses();
      dispatch.stop();
      for (const { unwatch: stopWatching } of watches.values()) stopWatching();
      await Promise.all(underWay);
    },
  };
}
