import { useQuery } from "@tanstack/react-query";
import type { ListedWorkflow, WorkflowProof, WorkflowView } from "../../api/workflows.ts";
import { queries } from "../data/queries.ts";
import { WorkflowGraph } from "../graph/workflow-graph.tsx";
import { workflowViews } from "../search.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Loaded } from "../ui/states.tsx";
import { Count } from "../ui/status.tsx";
import { Plain } from "../ui/text.tsx";
import { Findings } from "./findings.tsx";
import { notesOf, type TextNote } from "./notes.ts";
import { StateDetails } from "./state-details.tsx";
import { WorkflowText } from "./workflow-text.tsx";

type View = (typeof workflowViews)[number];

const viewNames: Readonly<Record<View, string>> = { graph: "Graph", text: "Text", findings: "Findings" };

/** A workflow: its graph, its text with what was found at each line, and whether it is proved. */
export function WorkflowPage({
  listed: { name, project, hash, from },
  view,
  state,
  onView,
  onState,
  onBack,
}: {
  listed: ListedWorkflow;
  view: View;
  state: string | undefined;
  onView: (view: View) => void;
  onState: (state: string | undefined) => void;
  onBack: () => void;
}) {
  // A text whose file is gone is found by its hash.
  const query = { ...(project === "" ? {} : { project }), ...(from === "gone" ? { hash } : {}) };
  const workflow = useQuery(queries.workflow(name, query));
  return (
    <Loaded query={workflow} what="the workflow">
      {(shown) => {
        const notes = notesOf(shown);
        return (
          <article>
            <header className="border-b border-line bg-panel px-4 py-2">
              <div className="flex items-center gap-3">
                <Button look="quiet" onClick={onBack} className="md:hidden">
                  ← All
                </Button>
                <h2 className="text-lg font-semibold">{visibleLine(shown.name)}</h2>
                <Proof proof={shown.proof} problems={shown.problems.length} />
              </div>
              {shown.description !== "" && <Plain text={shown.description} className="text-muted" />}
              <p className="text-sm [overflow-wrap:anywhere] text-muted">
                {visibleLine(shown.file)}
                {shown.hash !== "" && <span className="font-mono"> · {shown.hash.slice(0, 12)}</span>}
              </p>
              {shown.trust !== "" && (
                <div className="mt-2 rounded-md bg-warn-soft px-3 py-2">
                  <p className="text-warn">
                    This text comes from a repository and is not trusted, so it is not loaded. Read it, then:
                  </p>
                  <Command text={shown.trust} className="mt-1" />
                </div>
              )}
              <nav aria-label="Views of the workflow" className="-mb-2 mt-1 flex">
                {workflowViews.map((each) => (
                  <button
                    key={each}
                    type="button"
                    aria-current={each === view ? "page" : undefined}
                    onClick={() => onView(each)}
                    className={`flex items-center gap-1.5 border-b-2 px-2.5 py-1.5 pointer-coarse:min-h-11 ${each === view ? "border-accent font-semibold" : "border-transparent text-muted hover:text-ink"}`}
                  >
                    {viewNames[each]}
                    {each === "findings" && <Count of={notes.length} isUrgent={notes.some(isGrave)} />}
                  </button>
                ))}
                <Command text={`signalbox workflow verify ${name}`} className="my-auto ml-auto max-md:hidden" />
              </nav>
            </header>
            {view === "text" ? (
              <WorkflowText text={shown.text} notes={notes} state={state} />
            ) : view === "findings" ? (
              <Findings
                workflow={shown}
                notes={notes}
                onShow={(each) => {
                  onState(each);
                  onView("text");
                }}
              />
            ) : (
              <Graph workflow={shown} notes={notes} state={state} onState={onState} />
            )}
          </article>
        );
      }}
    </Loaded>
  );
}

function isGrave({ level }: TextNote): boolean {
  return level !== "note";
}

function Proof({ proof, problems }: { proof: WorkflowProof; problems: number }) {
  const [text, look] =
    proof.state === "running"
      ? ["is being proved …", "bg-sunken text-muted"]
      : proof.state === "failed"
        ? [`could not be proved: ${proof.reason}`, "bg-bad-soft text-bad"]
        : proof.state === "none"
          ? [problems > 0 ? "does not load" : "is not loaded", "bg-bad-soft text-bad"]
          : proof.result?.proved
            ? [`proved: ${proof.result.positions} positions`, "bg-good-soft text-good"]
            : ["not proved", "bg-warn-soft text-warn"];
  return (
    <span role="status" className={`rounded px-1.5 text-xs leading-5 font-medium ${look}`}>
      {visibleLine(text)}
    </span>
  );
}

function Graph({
  workflow: { name, graph },
  notes,
  state,
  onState,
}: {
  workflow: WorkflowView;
  notes: readonly TextNote[];
  state: string | undefined;
  onState: (state: string | undefined) => void;
}) {
  if (graph === null)
    return (
      <p className="p-6 text-center text-muted">There is no graph of a text that does not load. See its findings.</p>
    );
  const marks = Object.fromEntries(
    graph.states.flatMap(({ name }) => {
      const own = notes.filter((note) => note.state === name);
      const worst =
        own.find(({ level }) => level === "error") ?? own.find(({ level }) => level === "warning") ?? own[0];
      return worst === undefined ? [] : [[name, { level: worst.level, text: worst.text }]];
    }),
  );
  const chosen = graph.states.find(({ name }) => name === state);
  return (
    <div className="grid gap-4 p-4 2xl:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 rounded-lg border border-line bg-panel p-2">
        <WorkflowGraph
          name={name}
          graph={graph}
          // The words on its arrows would make it too wide for any screen.
          direction="down"
          marks={marks}
          chosen={state}
          onChoose={(each) => onState(each === state ? undefined : each)}
        />
      </div>
      <StateDetails graph={graph} state={chosen} notes={notes.filter((note) => note.state === chosen?.name)} />
    </div>
  );
}
