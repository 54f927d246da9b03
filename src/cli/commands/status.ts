import { homePlaces } from "../../home/places.ts";
import type { Context } from "../context.ts";
import { listed } from "../count.ts";
import { exitCodes } from "../exit-code.ts";
import { findDaemon, silentFault } from "../find-daemon.ts";
import { watchWork } from "../watch-work.ts";
import { writeJson } from "../write-json.ts";

export async function status(this: Context, { watch, json }: { watch: boolean; json: boolean }): Promise<void> {
  if (watch) return watchWork(this, { open: "true", limit: "500" }, json);
  const { log } = homePlaces(this.home);
  const daemon = await findDaemon(homePlaces(this.home));
  if (daemon.kind === "silent") {
    if (!json) throw silentFault(daemon.pid);
    this.process.exitCode = exitCodes.failed;
    return this.print(writeJson({ running: true, answers: false, pid: daemon.pid ?? null, home: this.home, log }));
  }
  const found = daemon.kind === "answers" ? daemon.status : undefined;
  if (found === undefined) this.process.exitCode = exitCodes.notFound;
  // A daemon of an older version does not say it.
  const storeProblem = found?.storeProblem ?? "";
  const saving = found?.savingProblem ?? { reason: "", fix: "" };
  if (storeProblem !== "" || saving.reason !== "") this.process.exitCode = exitCodes.failed;
  if (json)
    return this.print(
      writeJson(found === undefined ? { running: false, home: this.home } : { running: true, log, ...found }),
    );
  if (found === undefined) {
    return this.say(
      `The daemon of ${this.home} does not run.\nAny command that needs it starts it; so does signalbox up.`,
    );
  }
  const { bold, red, yellow } = this.paint;
  const { open, needPerson } = found.tasks;
  const { atWork, idle, waiting } = found.agents;
  const rows: readonly (readonly [string, string])[] = [
    ["daemon", `version ${found.version}, process ${found.pid}, since ${found.startedAt}`],
    ["home", found.home],
    ["log", log],
    ["web", found.address === "" ? "off (signalbox config set port 4711)" : `http://${found.address}`],
    ...(storeProblem === ""
      ? []
      : [["database", `${red("lost:")} ${storeProblem} (signalbox doctor says what to do)`] as const]),
    ...(saving.reason === "" ? [] : [["disk", `${red(saving.reason)} ${saving.fix} (signalbox doctor)`] as const]),
    ["projects", String(found.projects)],
    [
      "tasks",
      `${open} open${needPerson > 0 ? `, ${yellow(`${needPerson} need${needPerson === 1 ? "s" : ""} you`)} (signalbox task list --needs-me --all)` : ""}`,
    ],
    [
      "agents",
      [
        `${atWork} at work`,
        ...(idle > 0 ? [`${idle} idle`] : []),
        ...(waiting > 0 ? [`${waiting} wait${waiting === 1 ? "s" : ""} for a seat`] : []),
      ].join(", "),
    ],
    ["calls", callsRow(found.calls.channels, yellow)],
    ...pausedRows(found.paused, yellow),
  ];
  for (const [name, value] of rows) this.print(`${bold(name.padEnd(9))}${value}`);
  for (const problem of found.configProblems) this.say(`${this.talkPaint.yellow("warning:")} ${problem}`);
}

/** Where you are called, and which of that does not work. */
function callsRow(
  channels: readonly { readonly name: string; readonly problem: string }[],
  yellow: (text: string) => string,
): string {
  if (channels.length === 0) return "nowhere (signalbox doctor says how you can be)";
  return listed(channels.map(({ name, problem }) => (problem === "" ? name : yellow(`${name}, which failed`))));
}

function pausedRows(
  { all, projects }: { readonly all: boolean; readonly projects: readonly string[] },
  yellow: (text: string) => string,
): readonly (readonly [string, string])[] {
  if (all) return [["paused", `${yellow("everything")} (signalbox resume --all)`]];
  if (projects.length === 0) return [];
  return [["paused", `${yellow(listed(projects))} (signalbox resume --project ${projects[0]})`]];
}
