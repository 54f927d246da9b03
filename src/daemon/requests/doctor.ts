import type { DoctorView } from "../../api/overview.ts";
import type { Routes } from "../../api/routes.ts";
import { error, type Finding, homeChecks, ok, warning } from "../../home/checks.ts";
import { lookForGit, lookForTmux } from "../../home/program-checks.ts";
import { lookAtProjects, lookAtTasks, lookAtWorkflows, type Work, whyHeld } from "../../home/work-checks.ts";
import { count } from "../../text.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { allTasks, shownTask } from "../project.ts";
import { listHarnesses } from "./agents.ts";
import { check, status } from "./daemon.ts";

type Look = () => readonly Finding[] | Promise<readonly Finding[]>;
type Checks = Awaited<ReturnType<ReturnType<typeof check>>>;
type Harnesses = Awaited<ReturnType<ReturnType<typeof listHarnesses>>>;
type Status = Awaited<ReturnType<ReturnType<typeof status>>>;

/** The checks of `signalbox doctor` that the daemon can make itself, with its own PATH. */
export function doctor(core: Core): Handler<Routes["doctor"]> {
  return async (asked) => {
    const nothing = { ...asked, params: {}, query: {} } as Asked<never, never>;
    const harnesses = async () => (core.agents === undefined ? undefined : listHarnesses(core)(nothing));
    const [stored, now] = await Promise.all([check(core)(nothing), status(core)(nothing)]);
    const looks: readonly (readonly [name: string, look: Look])[] = [
      ["node", () => ok(process.versions.node)],
      ["git", () => lookForGit()],
      ["tmux", lookForTmux],
      ...homeChecks(core.home).map(({ name, look }) => [name, look] as const),
      ["daemon", () => lookAtDaemon(now)],
      ["agents", async () => lookAtAgents(await harnesses())],
      ["sandbox", async () => lookAtSandbox(await harnesses())],
      ["database", () => lookAtDatabase(now, stored)],
      ["tasks", async () => lookAtTasks({ troubled: await troubledTasks(core, stored) })],
      ["projects", async () => lookAtProjects({ ...stored, projects: await core.store.listProjects() })],
      ["workflows", async () => lookAtWorkflows(core.home, await core.store.listProjects())],
      ["runs", () => lookAtRuns(core, now)],
      ["calls", () => lookAtCalls(now)],
    ];
    const checks: DoctorView["checks"][number][] = [];
    for (const [name, look] of looks)
      for (const { level, found, fix } of await lookAt(look)) checks.push({ name, level, found, fix });
    return { ok: checks.every(({ level }) => level !== "error"), covers, checks };
  };
}

const covers =
  "The daemon has checked itself, with its own PATH. Your terminal's PATH, the installed skill and git's author are checked by: signalbox doctor";

/** A check that throws is an error finding, and does not stop the other checks. */
async function lookAt(look: Look): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (problem) {
    return error(`could not be checked: ${(problem as Error).message}`, "See more: signalbox doctor");
  }
}

function lookAtDaemon({ version, pid, address, configProblems, terminalProblem }: Status): readonly Finding[] {
  const wrong = [
    ...configProblems.flatMap((problem) => error(problem, "Fix the file; until then the last valid one is in use")),
    ...(terminalProblem.reason === "" ? [] : warning(terminalProblem.reason, terminalProblem.fix)),
  ];
  const about = `runs: version ${version}, process ${pid}`;
  return wrong.length > 0 ? wrong : ok(address === "" ? about : `${about}, on http://${address}`);
}

function lookAtAgents(known: Harnesses | undefined): readonly Finding[] {
  if (known === undefined) return ok("this daemon starts none");
  const found = known.harnesses.filter((each) => each.found);
  const hint = known.harnesses.find((each) => each.hint !== "")?.hint ?? "";
  const out = found.filter(({ login }) => login === "out");
  const limited = found.filter(({ limitedUntil }) => limitedUntil !== null);
  const wrong = [
    // The scripted agent calls no model; it is always there.
    ...(found.some(({ name }) => name !== "scripted") ? [] : warning("no agent is on the daemon's PATH", hint)),
    ...out.flatMap(({ title, loginHint }) => warning(`${title} is not logged in`, loginHint)),
    ...limited.flatMap(({ name, title, limitedUntil }) =>
      warning(`the limit of ${title} is reached until ${limitedUntil}`, `signalbox resume --harness ${name}`),
    ),
  ];
  return wrong.length > 0 ? wrong : ok(found.map(({ name }) => name).join(", "));
}

function lookAtSandbox(known: Harnesses | undefined): readonly Finding[] {
  if (known === undefined) return ok("this daemon starts no agents");
  const { works, setting, version, reason, fix } = known.sandbox;
  if (setting === "off") return ok("agents run without one, by your setting");
  if (works) return ok(`bubblewrap ${version}, for agents in workspaces of kind clone`);
  return setting === "on" ? error(reason, fix) : warning(reason, fix);
}

function lookAtDatabase({ storeProblem, savingProblem }: Status, { damage }: Checks): readonly Finding[] {
  if (storeProblem !== "") return error(storeProblem, "signalbox backup\nsignalbox down\nsignalbox doctor");
  if (savingProblem.reason !== "") return error(savingProblem.reason, savingProblem.fix);
  const [first, ...others] = damage;
  if (first === undefined) return ok("sound");
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return error(`the database is damaged: ${first}${more}`, "signalbox down\nsignalbox doctor");
}

/** Questions and approvals are normal; agents in trouble are reported with the runs. */
const normal: ReadonlySet<string> = new Set(["question", "approval", "agent", "disk"]);

async function troubledTasks(core: Core, { stuck }: Checks): Promise<Work["troubled"]> {
  const troubled: { task: string; why: string }[] = [];
  const held = new Set<string>();
  for (const stored of await allTasks(core.store, { isOpen: true })) {
    const { task } = stored;
    if (task.held !== undefined) {
      held.add(task.id);
      troubled.push({ task: shownTask(task), why: whyHeld(task.status, task.held.reason) });
      continue;
    }
    for (const { reason, text } of await core.needs.of(stored))
      if (!normal.has(reason)) troubled.push({ task: shownTask(task), why: `needs you: ${text}` });
  }
  const failed = stuck.filter(({ task }) => !held.has(task));
  return [...troubled, ...failed.map(({ task, action, reason }) => ({ task, why: `${action} failed: ${reason}` }))];
}

function lookAtRuns(
  { agents }: Core,
  { agents: { atWork, idle, waiting }, tasks: { needPerson }, paused }: Status,
): readonly Finding[] {
  const wrong = (agents?.watches() ?? [])
    .filter(({ isOver, started }) => !isOver && started.raised !== "")
    .flatMap(({ run, started }) =>
      warning(`${run.key} needs you: ${started.raised}`, `signalbox task explain ${run.task}`),
    );
  const pauses = [...(paused.all ? ["everything"] : []), ...paused.projects];
  const told = pauses.length === 0 ? "" : `; paused: ${pauses.join(", ")}`;
  if (wrong.length > 0) return wrong;
  return ok(
    `${atWork} at work, ${idle} idle, ${waiting} waiting; ${count(needPerson, "task")} ${needPerson === 1 ? "needs" : "need"} you${told}`,
  );
}

function lookAtCalls({ calls: { channels, quiet } }: Status): readonly Finding[] {
  const wrong = channels.flatMap(({ name, problem, undelivered }) => [
    ...(problem === "" ? [] : warning(`${name}: ${problem}`, `signalbox config get notify.${name}`)),
    ...(undelivered.length === 0
      ? []
      : warning(
          `${name}: ${count(undelivered.length, "call")} did not get through: ${undelivered.join(", ")}`,
          "signalbox task list --needs-me --all",
        )),
  ]);
  if (wrong.length > 0) return wrong;
  if (channels.length === 0) return ok("there is no channel to call you; keep signalbox events --follow --bell open");
  return ok(
    `by ${channels.map(({ name }) => name).join(", ")}${quiet === "" ? "" : `, not from ${quiet.replace("-", " to ")}`}`,
  );
}
