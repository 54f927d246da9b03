import { join } from "node:path";
import { defaultNames } from "../../engine/default-names.ts";
import { Fault, tell } from "../../fault.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Tails } from "../../ports/tail.ts";
import { roleFileName } from "../../ports/workspaces.ts";
import { killAgent, killSession } from "../effects/end-agents.ts";
import type { Performers } from "../perform.ts";
import { createTurns } from "../turns.ts";
import { createAwaitLogin } from "./await-login.ts";
import { type Brake, createBrake, type EndedRun, endByPerson } from "./brake.ts";
import { checkCosts } from "./check-costs.ts";
import { capsOf, createDispatch, type Dispatch, seatOf } from "./dispatch.ts";
import { createKiller, endRun, killRun, noteEnding } from "./end-run.ts";
import { healRun, raise } from "./heal-run.ts";
import { createIdle } from "./idle-runs.ts";
import { createMail, type Mail } from "./mail.ts";
import { createPanes, type TerminalTrouble } from "./panes.ts";
import type { Pauses } from "./pauses.ts";
import { type ReportedEnd, reportEnd } from "./report-end.ts";
import { sessionTitle, terminalSession } from "./run-name.ts";
import { createSleepers } from "./sleepers.ts";
import { isWanted, type StartPorts, spawnAgent } from "./start-run.ts";
import { createStrangers } from "./strangers.ts";
import { taskRank } from "./task-rank.ts";
import { tellAgent } from "./tell-agent.ts";
import { countedOf, readTurnOutput } from "./turn-reading.ts";
import { createUsageBook, type UsageBook } from "./usage-book.ts";
import { limitsOf, type RunWatch, watchRun } from "./watch-run.ts";

export interface AgentsPorts extends Omit<StartPorts, "dispatch" | "book" | "watch" | "tell" | "paused" | "launched"> {
  readonly tails: Tails;
  readonly pauses: Pauses;
  onError(error: unknown): void;
}

/** Everything that starts agents, looks after them, and talks to them. */
export interface Agents {
  readonly performers: Performers;
  readonly dispatch: Dispatch;
  readonly book: UsageBook;
  readonly mail: Mail;
  readonly pauses: Pauses;
  readonly ports: AgentsPorts;
  /** Those that are at work, as they are known. */
  watches(): readonly RunWatch[];
  watchOf(run: string): RunWatch | undefined;
  /** Why agents in windows can be told nothing; undefined where the terminal answers. */
  terminalTrouble(): TerminalTrouble | undefined;
  /** Tells of every run that was looked at, whether or not something about it has changed; gives what ends it. */
  follow(tell: (run: string) => void): () => void;
  /** Ends programs on a person's word, before anything else is looked at. */
  readonly brake: Brake;
  /** Ends a run that its task still wants; then the engine is told, and decides. */
  end(run: Run, end: ReportedEnd): Promise<EndedRun>;
  /** An idle run whose program was ended to make room: it lives, and has no program now. */
  isAsleep(run: string): boolean;
  /** Starts the program of a run that sleeps, for a person to see it; undefined where it does not sleep. */
  wakeUp(run: string): Promise<Run | undefined>;
  noticed(stored: StoredTask): void;
  /** Limits may have changed. */
  configured(): void;
  /** After a start: takes up what goes on, and ends what nobody wants. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/** Events tell of everything at once; this is for what they miss. */
const slowPoll = 3_000;
/** While something is starting, or a message waits: screens tell nobody when they change. */
const fastPoll = 400;

export function createAgents(given: AgentsPorts): Agents {
  const { store, clock, terminal, processes, places, tails, harnesses, config, onError } = given;
  const inTurn = createTurns();
  const watches = new Map<string, { watch: RunWatch; unwatch: () => void }>();
  const strangers = createStrangers({ store, raise: (watch, reason) => raise(given, watch, reason) });
  const dispatch = createDispatch({
    ...{ clock, caps: () => capsOf(config()), paused: given.pauses.why },
    rankOf: (task) => taskRank(given, task),
  });
  const budgets = () => {
    const { budgetTask: task, budgetTaskTokens: taskTokens, budgetProjectDay: projectDay, budgetDay: day } = config();
    return { task, taskTokens, projectDay, day };
  };
  const book = createUsageBook(store, budgets);
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
      return watch.look(panes.seen);
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
    // Nothing may be learnt of one that could not be told something while the terminal did not answer.
    if (answers) for (const { watch } of watches.values()) if (mail.waits(watch)) mail.wake(watch);
    sleepers.tend([...watches.values()].map(({ watch }) => watch));
  };
  const poll = () => {
    cancelPoll();
    if (isStopped || watches.size + strangers.list().length === 0) return;
    const isUrgent = [...watches.values()].some(
      // Of one that is busy there will be news; one that waits for a seat is woken when there is one.
      ({ watch: { run, signs }, watch }) =>
        watch.hasMore ||
        signs.activity === "starting" ||
        (mail.waits(watch) && signs.activity !== "busy" && dispatch.whyRunWaits(run.id) === undefined),
    );
    cancelPoll = clock.after(isUrgent ? fastPoll : slowPoll, () => track(lookAtAll().finally(poll)));
  };

  const finish = async ({ run }: RunWatch, end: ReportedEnd) => void (await over(run, end));
  /** Whoever cannot be told of an end because the disk is full is told later: until then the run is looked after. */
  const over = async (run: Run, end: ReportedEnd) => {
    const answer = await reportEnd(given, run.task, run.key, end).catch(async (error) => {
      await raiseFor(run, error);
      throw error;
    });
    unwatch(run.id);
    sleepers.forget(run.id);
    dispatch.left(run.id);
    track(book.close(run, clock.now()).then(() => mail.giveUp(run)));
    return answer;
  };
  /** What does not pass by itself, such as a repository that has to be looked at first, a person must hear of. */
  const raiseFor = async ({ id }: Run, error: unknown) => {
    const watched = watches.get(id)?.watch;
    const isTheirs = error instanceof Fault && error.retry === "never" && error.code !== "task.missing";
    if (watched !== undefined && isTheirs) await raise(given, watched, tell(error));
  };
  const unwatch = (run: string) => {
    const found = watches.get(run);
    found?.watch.close();
    found?.unwatch();
    watches.delete(run);
    strangers.forget(run);
    idle.forget(run);
  };
  const isWatched = (watch: RunWatch) => watches.get(watch.run.id)?.watch === watch;
  /** A run that works has a seat. One that is idle, or waits in a dialog, gives it up until it goes on. */
  const seat = (watch: RunWatch) => {
    const { activity } = watch.signs;
    if (watch.started.mode !== "session" || !isWatched(watch)) return;
    if (activity === "busy" || activity === "starting") dispatch.seated(seatOf(watch.run));
    else if (activity !== "unknown" && !mail.isTelling(watch)) dispatch.rests(watch.run.id);
  };
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
    ...{
      ...given,
      dispatch,
      mail,
      inTurn,
      track,
      isWatched,
      unwatch: (run) => unwatch(run),
      watch: (run) => watch(run),
    },
    end: (run, end) => inTurn(run.id, () => over(run, end)),
  });
  const idle = createIdle({ store, clock, submit: given.submit, mail, dispatch });
  const costs = checkCosts({ ...given, book, end: (watch, ending) => endRun({ ...given, finish }, watch, ending) });
  const awaitLogin = createAwaitLogin({ clock, end: (watch, ending) => endRun({ ...given, finish }, watch, ending) });
  const healing = healRun({
    ...{ ...given, dispatch, book, runFolder: folderOf, finish, idle: idle.noticed, awaitLogin },
    rewatch: (run) => watch(run),
  });
  const heal: typeof healing = async (watch, found) => {
    if (!brake.isOn(watch.run.id)) await healing(watch, found);
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
        ...{ store, clock, terminal, tails, book, table: given.table, heal, limitsOf: (each) => limitsOf(given, each) },
        readingOf: (each, of: Harness) =>
          readTurnOutput(
            processes,
            of,
            each.started as StartedRun,
            folderOf(run.started?.name ?? ""),
            countedOf(book.of(each.id), each.started as StartedRun).offset,
          ),
        runFolder: ({ name }) => folderOf(name),
        since: panes.looks,
        taskFileOf: ({ role }) => (role === defaultNames.roles.task ? "TASK.md" : roleFileName(role)),
        learnt(each) {
          // What was learnt may have been that it has ended: then its record is closed, and must stay so.
          if (!isWatched(each)) return;
          if (each.started.raised !== "" && each.signs.activity === "busy")
            track(each.keep({ started: { ...each.started, raised: "" } }));
          // In its turn: whoever ends it must say why before anybody sees that it has ended.
          track(inTurn(each.run.id, async () => (isWatched(each) ? costs(each) : undefined)));
          mail.wake(each);
        },
      },
      { ...run, started: run.started },
      harness,
    );
    let isAboutToLook = false;
    // One look covers all changes before it. A run that writes more than a look reads is looked at from time to time.
    const stopWatching = tails.watch(folderOf(run.started.name), () => {
      if (isAboutToLook || made.hasMore) return;
      isAboutToLook = true;
      track(
        look(made, () => {
          isAboutToLook = false;
        }),
      );
    });
    watches.set(run.id, { watch: made, unwatch: stopWatching });
    // Without a terminal nothing is asked of tmux, which may not be there.
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
    /** Nobody is to find it dead meanwhile; what it said before its end still counts. */
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
  /** A task is over: whoever its workflow has left behind is ended, and its windows go. */
  const endTask = async (task: string) => {
    sleepers.forgetTask(task);
    const own = [...watches.values()].filter(({ watch }) => watch.run.task === task);
    for (const { watch } of own) await kill(watch.run);
    const hasWindows = [...panes.seen.panes.values()].some(({ session }) => session === terminalSession(task));
    if (hasWindows || own.length > 0) await terminal.closeSession(terminalSession(task));
  };
  const isOwed = async (task: string, run: string) =>
    (await store.openEffects(task)).some(({ effect }) => effect.action === "spawn_agent" && effect.agent?.run === run);
  /** Panes that live and belong to no run that is wanted: nobody would ever end them. */
  const closeStrays = async () => {
    const names = new Set((await store.liveRuns()).map(({ started }) => started?.name));
    for (const pane of await terminal.list())
      if (pane.dead === undefined && !names.has(pane.run)) await terminal.close(pane.run);
  };
  const halt = (run: Run) =>
    given.pauses.isHalted(run.project) && track(end(run, { word: "lost", reason: "A person has paused everything." }));
  const starting = { ...given, dispatch, book, watch, tell: mail.tell, paused: given.pauses.why, launched: halt };
  const end = endByPerson({ brake, clock, inTurn, track, over, watch, watchOf: (run) => watches.get(run)?.watch });

  return {
    ports: given,
    dispatch,
    book,
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
      spawn_agent: spawnAgent(starting),
      notify_agent: tellAgent({ ...given, mail }),
      kill_agent: killAgent({ ...given, kill }),
      kill_session: killSession({
        ...given,
        kill,
        closeSession: (task) => terminal.closeSession(terminalSession(task)),
      }),
    },
    brake,
    end,
    isAsleep: sleepers.isAsleep,
    wakeUp: sleepers.wake,
    noticed({ task, isOpen }) {
      if (!isOpen) track(endTask(task.id));
      dispatch.recheck(task.id, (run) => isWanted(task, run.slice(run.indexOf("/") + 1)));
      dispatch.moved(task.id);
      if (isOpen) track(sleepers.noticed(task));
      if (task.tmuxSession === "" || task.tmuxSession === sessionTitle(task) || !isOpen) return;
      // Its branch has another name now.
      const title = sessionTitle(task);
      track(terminal.setTitle(terminalSession(task.id), title));
      track(given.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { tmuxSession: title } }));
    },
    configured() {
      dispatch.wake();
      track(lookAtAll());
    },
    async recover() {
      await book.open();
      const all = (await store.runs.list({})).filter(({ started }) => started !== undefined);
      const hasWindows = all.some(({ started }) => started?.mode === "session");
      if (hasWindows) await panes.look().catch(onError);
      const sleeping: Run[] = [];
      for (const run of all) {
        if (run.endedAt !== undefined) continue;
        const task = (await store.getTask(run.task))?.task;
        if (task === undefined || !isWanted(task, run.key)) {
          // One that cannot be ended must not keep the others from being taken up, and is not forgotten either.
          await kill(run)
            .then(() => close(run))
            .catch(onError);
          continue;
        }
        if (run.started?.asleepSince !== undefined) {
          await killRun(given, run).catch(onError);
          sleeping.push(run);
          continue;
        }
        // One that was only about to start is started by the effect that is still owed.
        if (run.pid === 0 && (await isOwed(task.id, run.key))) continue;
        // Until it was looked at: one that is found idle gives its seat up.
        dispatch.seated(seatOf(run));
        watch(run);
        idle.takenUp(run.id, await mail.lastTold(run));
      }
      for (const run of sleeping) await sleepers.takenUp(run);
      if (hasWindows) await closeStrays().catch(onError);
    },
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
