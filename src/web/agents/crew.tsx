import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AgentView } from "../../api/agents.ts";
import { routes } from "../../api/routes.ts";
import { call, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { queries } from "../data/queries.ts";
import { dollarText, shortNumber } from "../text/money.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Loaded } from "../ui/states.tsx";
import { tellPerson } from "../ui/toasts.tsx";

const states: Readonly<Record<AgentView["state"], string>> = {
  idle: "bg-sunken text-muted",
  ready: "bg-sunken text-muted",
  working: "bg-note-soft text-note",
  done: "bg-good-soft text-good",
  stuck: "bg-bad-soft text-bad",
};

/** The named agents with what they do and what they have used; nothing where there are none. */
export function Crew({ project }: { project: string | undefined }) {
  const agents = useQuery(queries.agents);
  const runs = useQuery(queries.runs);
  const idOf = (label: string) =>
    runs.data?.find(({ project: of, number }) => label === `${of}#${number}` || label.startsWith(`${of}#${number}/`))
      ?.task;
  const shown = (agents.data ?? []).filter((agent) => project === undefined || agent.project === project);
  if (agents.data !== undefined && shown.length === 0) return null;
  return (
    <section aria-label="Named agents" className="m-3 rounded-lg border border-line bg-panel">
      <h2 className="border-b border-line px-3 py-2 font-semibold">Named agents</h2>
      <Loaded query={agents} what="the named agents">
        {() => (
          <div className="overflow-x-auto">
            <table className="w-full text-left">
              <thead className="text-sm text-muted">
                <tr>
                  {["Agent", "State", "Task", "Harness", "Model", "Runs", "Tokens", "Cost"].map((each) => (
                    <th key={each} className="px-3 py-1.5 font-medium whitespace-nowrap">
                      {each}
                    </th>
                  ))}
                  <td />
                </tr>
              </thead>
              <tbody>
                {shown.map((agent) => (
                  <AgentRow key={`${agent.project}/${agent.name}`} agent={agent} taskId={idOf(agent.task)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  );
}

function AgentRow({ agent, taskId }: { agent: AgentView; taskId: string | undefined }) {
  const { name, project, state, reason, task, harness, model, runs, usage } = agent;
  return (
    <tr className="border-t border-line">
      <td className="px-3 py-1.5 whitespace-nowrap">
        <span className="font-medium">{visibleLine(name)}</span>{" "}
        <span className="text-sm text-muted">{visibleLine(project)}</span>
      </td>
      <td className="px-3 py-1.5">
        <span className={`rounded px-1.5 text-xs leading-5 font-medium ${states[state]}`}>{state}</span>
        {reason !== "" && <span className="ml-2 text-sm text-muted">{visibleLine(reason)}</span>}
      </td>
      <td className="px-3 py-1.5 font-mono text-sm">
        {taskId === undefined ? (
          visibleLine(task)
        ) : (
          <Link to="/tasks/$task" params={{ task: taskId }} className="text-accent underline">
            {visibleLine(task)}
          </Link>
        )}
      </td>
      <td className="px-3 py-1.5">{visibleLine(harness)}</td>
      <td className="px-3 py-1.5">{visibleLine(model) || <span className="text-muted">its own</span>}</td>
      <td className="px-3 py-1.5 tabular-nums">{runs}</td>
      <td className="px-3 py-1.5 tabular-nums">{shortNumber(usage.inputTokens + usage.outputTokens)}</td>
      <td className="px-3 py-1.5 tabular-nums">
        {usage.cost === null ? <span className="text-muted">unknown</span> : dollarText(usage.cost)}
      </td>
      <td className="px-3 py-1.5 text-right">{state === "stuck" && <Clear agent={agent} />}</td>
    </tr>
  );
}

/** Makes a stuck agent available again. */
function Clear({ agent: { name, project } }: { agent: AgentView }) {
  const client = useQueryClient();
  const canAct = useCanAct();
  const [isBusy, setBusy] = useState(false);
  const clear = async () => {
    setBusy(true);
    try {
      await call(routes.clearAgent, { params: { agent: name }, body: { project } });
      tellPerson(`${name} is available again.`, `signalbox agent clear ${name} --project ${project}`);
    } catch (error) {
      const [problem] = problemsOf(error);
      tellPerson(`${problem?.text ?? ""} ${problem?.fix ?? ""}`, "", "bad");
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: ["agents"] });
    }
  };
  return (
    <Button disabled={!canAct || isBusy} onClick={() => void clear()}>
      Make it available
    </Button>
  );
}
