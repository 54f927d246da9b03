import { listed } from "./count.ts";
import { type Check, type Finding, ok, warning } from "./doctor-finding.ts";
import type { FoundDaemon } from "./find-daemon.ts";

/** Where the person is called when a task needs one. Only a daemon that runs can tell. */
export function callCheck(daemon: FoundDaemon): Check {
  return { name: "calls", look: () => look(daemon) };
}

function look(daemon: FoundDaemon): readonly Finding[] {
  if (daemon.kind !== "answers") return ok("the daemon calls you when it runs");
  const { channels, quiet } = daemon.status.calls;
  const failing = channels.filter(({ problem }) => problem !== "");
  if (failing.length > 0)
    return failing.flatMap(({ name, problem }) =>
      warning(`${name}: ${problem}`, name === "terminal" ? "" : `signalbox config get notify.${name}`),
    );
  if (channels.length === 0) return ok(`you are called nowhere: ${howToBeCalled}`);
  const hours = quiet === "" ? "" : `, not from ${quiet.replace("-", " to ")}`;
  return ok(`by ${listed(channels.map(({ name }) => name))}${hours}`);
}

/** For whoever has no desktop here. */
export const howToBeCalled =
  "there is no desktop here. Set notify.webhook or notify.command (signalbox config set), or keep signalbox events --follow --bell open";
