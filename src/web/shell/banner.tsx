import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useDaemonState } from "../data/daemon-state.ts";
import { queries } from "../data/queries.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";

declare const builtVersion: string;

/** What concerns the whole page: the daemon is gone or another version, nothing can be saved, everything is paused. */
export function Banner() {
  const { connection, version } = useDaemonState();
  const { data: status } = useQuery(queries.status);
  if (connection === "gone")
    return (
      <Bar tone="bad" command="signalbox up">
        The daemon does not answer. What you see may be out of date; your drafts are kept. Trying again …
      </Bar>
    );
  if (version !== "" && version !== builtVersion)
    return (
      <Bar tone="warn">
        The daemon is version {version}, this page is {builtVersion}.
        <Button onClick={() => location.reload()}>Reload</Button>
      </Bar>
    );
  if (status === undefined) return null;
  const { storeProblem, savingProblem, terminalProblem, configProblems, paused } = status;
  if (storeProblem !== "") return <Bar tone="bad">{storeProblem}</Bar>;
  for (const { reason, fix } of [savingProblem, terminalProblem])
    if (reason !== "")
      return (
        <Bar tone="bad">
          {reason} {fix}
        </Bar>
      );
  const [configProblem] = configProblems;
  if (configProblem !== undefined) return <Bar tone="warn">{visibleLine(configProblem)}</Bar>;
  if (paused.all)
    return (
      <Bar tone="warn" command="signalbox resume --all">
        Everything is paused: no agent is started.
      </Bar>
    );
  return null;
}

function Bar({ tone, command, children }: { tone: "bad" | "warn"; command?: string; children: ReactNode }) {
  const colours = tone === "bad" ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn";
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-3 border-b border-line px-4 py-2 font-medium ${colours}`}
    >
      {children}
      {command !== undefined && <Command text={command} />}
    </div>
  );
}
