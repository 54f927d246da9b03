import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { FindingsView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { call, type Problem, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { queries, refreshTask } from "../data/queries.ts";
import { StaleNote } from "../tasks/stale-note.tsx";
import { type StaleChange, staleChangeOf } from "../tasks/use-act.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded, Problems } from "../ui/states.tsx";
import { Line, Markdown, Plain } from "../ui/text.tsx";
import { tellPerson } from "../ui/toasts.tsx";

type Finding = FindingsView["findings"][number];

/** What reviews have found: the open ones first, each to be approved, so that it is fixed, or dismissed. */
export function FindingsPart({ task }: { task: TaskView }) {
  const findings = useQuery(queries.findings(task.id));
  const client = useQueryClient();
  const canAct = useCanAct();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [stale, setStale] = useState<StaleChange>();
  const decide = async (ids: readonly string[], state: "approved" | "dismissed") => {
    setBusy(true);
    setProblems([]);
    setStale(undefined);
    try {
      const body = { findings: ids, state };
      await call(routes.decideFindings, { params: { task: task.id }, revision: task.revision, body });
      const verb = state === "approved" ? "approve" : "dismiss";
      tellPerson(`${ids.join(", ")} ${state}.`, `signalbox task findings ${task.id} --${verb} ${ids.join(",")}`);
      setChosen(new Set());
    } catch (error) {
      setProblems(problemsOf(error));
      setStale(staleChangeOf(error, task));
    } finally {
      setBusy(false);
      void refreshTask(client, task.id);
    }
  };
  return (
    <Loaded query={findings} what="the findings">
      {({ findings: all, said }) => {
        if (all.length === 0)
          return (
            <Empty title="No findings">
              {said === "" ? "No review has reported a defect." : <Plain text={said} />}
            </Empty>
          );
        const open = all.filter(({ state }) => state === "open");
        const sorted = [...open, ...all.filter(({ state }) => state !== "open")];
        const ids = [...chosen].filter((id) => open.some((finding) => finding.id === id));
        return (
          <div className="mx-auto max-w-4xl space-y-2 p-4">
            {open.length > 0 && (
              <div className="flex flex-wrap items-center gap-2">
                <label className="inline-flex items-center gap-2">
                  <input
                    type="checkbox"
                    checked={ids.length === open.length}
                    onChange={({ target }) => setChosen(new Set(target.checked ? open.map(({ id }) => id) : []))}
                  />
                  All {open.length} open
                </label>
                <Button disabled={!canAct || isBusy || ids.length === 0} onClick={() => void decide(ids, "approved")}>
                  Approve {ids.length}
                </Button>
                <Button disabled={!canAct || isBusy || ids.length === 0} onClick={() => void decide(ids, "dismissed")}>
                  Dismiss {ids.length}
                </Button>
              </div>
            )}
            {problems.length > 0 && (
              <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
                <Problems problems={problems} />
                <StaleNote change={stale} />
              </div>
            )}
            {sorted.map((finding) => (
              <OneFinding
                key={finding.id}
                finding={finding}
                isChosen={chosen.has(finding.id)}
                choose={(isChosen) =>
                  setChosen(new Set(isChosen ? [...chosen, finding.id] : [...chosen].filter((id) => id !== finding.id)))
                }
              />
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

const severe: readonly string[] = ["critical", "high"];

function OneFinding({
  finding: { id, state, severity, file, line, title, evidence, reason, note, by },
  isChosen,
  choose,
}: {
  finding: Finding;
  isChosen: boolean;
  choose: (isChosen: boolean) => void;
}) {
  return (
    <article className={`rounded-md border border-line bg-panel px-3 py-2 ${state === "open" ? "" : "opacity-75"}`}>
      <h3 className="flex flex-wrap items-center gap-2 font-medium">
        {state === "open" && (
          <input
            type="checkbox"
            aria-label={`Choose ${id}`}
            checked={isChosen}
            onChange={({ target }) => choose(target.checked)}
          />
        )}
        <span className="font-mono text-xs text-muted">{id}</span>
        <Line text={title} className="min-w-0 flex-1" />
        <span
          className={`rounded px-1.5 text-xs ${severe.includes(severity) ? "bg-bad-soft text-bad" : "bg-sunken text-muted"}`}
        >
          {severity}
        </span>
        <span className="rounded bg-sunken px-1.5 text-xs text-muted">{state}</span>
      </h3>
      {file !== "" && (
        <p className="font-mono text-sm text-muted">
          <Line text={`${file}${line > 0 ? `:${line}` : ""}`} />
        </p>
      )}
      {evidence !== "" && <Markdown text={evidence} />}
      {reason !== "" && <Plain text={`${by}: ${reason}`} className="text-sm text-muted" />}
      {note !== "" && <Plain text={`Your note: ${note}`} className="text-sm" />}
    </article>
  );
}
