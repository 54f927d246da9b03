import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findProgram, isProgram } from "../../find-program.ts";
import { type Check, type Finding, ok, warning } from "../../home/checks.ts";
import type { FoundDaemon } from "../start-daemon.ts";
import { count, listed } from "../text.ts";

/** Checks the channels through which the person is called. Only a running daemon knows whether calls were delivered. */
export function callCheck(daemon: FoundDaemon, command: readonly string[], env: NodeJS.ProcessEnv): Check {
  return { name: "calls", look: () => lookAtCalls(daemon, commandProblem(command, env)) };
}

function lookAtCalls(daemon: FoundDaemon, broken: string): readonly Finding[] {
  const wrong = broken === "" ? [] : warning(`command: ${broken}`, settingOf("command"));
  if (daemon.kind !== "answers") return broken === "" ? ok("the daemon calls you when it runs") : wrong;
  const { channels, quiet } = daemon.status.calls;
  const failing = channels.flatMap(({ name, problem }) =>
    problem === "" || (name === "command" && broken !== "")
      ? []
      : warning(`${name}: ${problem}`, name === "terminal" ? "" : settingOf(name)),
  );
  // An older daemon does not report it.
  const missed = [...new Set(channels.flatMap(({ undelivered = [] }) => undelivered))];
  const unreached =
    missed.length === 0
      ? []
      : warning(
          `${listed(missed)} ${missed.length === 1 ? "needs" : "need"} you, and the call did not get through`,
          "signalbox task list --needs-me --all",
        );
  // Others have found the bot, or the person writes from a chat that is not on the list.
  const foreign = channels.flatMap(({ strangers = 0 }) =>
    strangers === 0
      ? []
      : warning(`telegram: ${count(strangers, "message")} came from chats that are not allowed`, settingOf("telegram")),
  );
  const findings = [...wrong, ...failing, ...unreached, ...foreign];
  if (findings.length > 0) return findings;
  if (channels.length === 0) return ok(`there is no channel to call you: ${howToBeCalled}`);
  const hours = quiet === "" ? "" : `, not from ${quiet.replace("-", " to ")}`;
  return ok(`by ${listed(channels.map(({ name }) => name))}${hours}`);
}

function settingOf(channel: string): string {
  return `signalbox config get ${channel === "telegram" ? "chat.telegram.chats" : `notify.${channel}`}`;
}

/** Why `notify.command` cannot be run; empty if it can. The daemon runs it in the person's home folder. */
function commandProblem([program = ""]: readonly string[], env: NodeJS.ProcessEnv): string {
  if (program === "") return "";
  if (!program.includes("/"))
    return findProgram(program, env.PATH ?? "") !== "" ? "" : `"${program}" is not on your PATH`;
  const file = resolve(env.HOME ?? "/", program);
  if (!existsSync(file)) return `there is no ${file}`;
  return isProgram(file) ? "" : `${file} is not executable (chmod +x)`;
}

/** Advice for machines without a desktop. */
export const howToBeCalled =
  "there is no desktop here. Set notify.webhook, notify.command or chat.telegram (signalbox config set), or keep signalbox events --follow --bell open";
