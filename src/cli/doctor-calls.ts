import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { listed } from "./count.ts";
import { type Check, type Finding, ok, warning } from "./doctor-finding.ts";
import { isOnPath, isProgram } from "./find-agents.ts";
import type { FoundDaemon } from "./find-daemon.ts";

/** Where the person is called when a task needs one. What has become of calls only a daemon that runs can tell. */
export function callCheck(daemon: FoundDaemon, command: readonly string[], env: NodeJS.ProcessEnv): Check {
  return { name: "calls", look: () => look(daemon, commandProblem(command, env)) };
}

function look(daemon: FoundDaemon, broken: string): readonly Finding[] {
  const wrong = broken === "" ? [] : warning(`command: ${broken}`, settingOf("command"));
  if (daemon.kind !== "answers") return broken === "" ? ok("the daemon calls you when it runs") : wrong;
  const { channels, quiet } = daemon.status.calls;
  const failing = channels.flatMap(({ name, problem }) =>
    problem === "" || (name === "command" && broken !== "")
      ? []
      : warning(`${name}: ${problem}`, name === "terminal" ? "" : settingOf(name)),
  );
  // A daemon of an older version does not say it.
  const missed = [...new Set(channels.flatMap(({ undelivered = [] }) => undelivered))];
  const unreached =
    missed.length === 0
      ? []
      : warning(
          `${listed(missed)} ${missed.length === 1 ? "needs" : "need"} you, and the call did not get through`,
          "signalbox task list --needs-me --all",
        );
  const findings = [...wrong, ...failing, ...unreached];
  if (findings.length > 0) return findings;
  if (channels.length === 0) return ok(`you are called nowhere: ${howToBeCalled}`);
  const hours = quiet === "" ? "" : `, not from ${quiet.replace("-", " to ")}`;
  return ok(`by ${listed(channels.map(({ name }) => name))}${hours}`);
}

function settingOf(channel: string): string {
  return `signalbox config get notify.${channel}`;
}

/** Why the command of `notify.command` cannot be run now; empty where it can. The daemon runs it in the person's folder. */
function commandProblem([program = ""]: readonly string[], env: NodeJS.ProcessEnv): string {
  if (program === "") return "";
  if (!program.includes("/")) return isOnPath(program, env.PATH ?? "") ? "" : `"${program}" is not on your PATH`;
  const file = resolve(env.HOME ?? "/", program);
  if (!existsSync(file)) return `there is no ${file}`;
  return isProgram(file) ? "" : `${file} is no program that may be run (chmod +x)`;
}

/** For whoever has no desktop here. */
export const howToBeCalled =
  "there is no desktop here. Set notify.webhook or notify.command (signalbox config set), or keep signalbox events --follow --bell open";
