import { type ReactNode, useEffect, useRef } from "react";
import type { GraphView } from "../../api/workflows.ts";
import { visibleLine } from "../text/visible.ts";
import { Note } from "./findings.tsx";
import type { TextNote } from "./notes.ts";

/** A state in words: what it waits for, what it does, its ways with their gates. */
export function StateDetails({
  graph,
  state,
  notes,
}: {
  graph: GraphView;
  state: GraphView["states"][number] | undefined;
  notes: readonly TextNote[];
}) {
  if (state === undefined)
    return <aside className="text-muted">Choose a state with a click, or with Tab and Enter.</aside>;
  return <Details graph={graph} state={state} notes={notes} />;
}

function Details({
  graph,
  state,
  notes,
}: {
  graph: GraphView;
  state: GraphView["states"][number];
  notes: readonly TextNote[];
}) {
  const place = useRef<HTMLElement>(null);
  const { name, waits, ask, does, role } = state;
  // Where there is no room beside the graph, it stands below it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state is what scrolls.
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, [name]);
  const ways = graph.ways.filter((way) => way.from === name);
  const into = graph.ways.filter((way) => way.to === name && !way.everywhere);
  return (
    <aside
      ref={place}
      aria-label={`The state ${visibleLine(name)}`}
      className="space-y-2 rounded-lg border border-line bg-panel px-3 py-2"
    >
      <h3 className="font-semibold">{visibleLine(name)}</h3>
      <p>It {visibleLine(waits)}.</p>
      {ask !== "" && <Fact title="A person's yes">{visibleLine(ask)}</Fact>}
      {role !== "" && <Fact title="Role">{visibleLine(role)}</Fact>}
      {does.length > 0 && <Fact title="Then it does">{does.map(visibleLine).join(", ")}</Fact>}
      {ways.length > 0 && (
        <Fact title="Ways out">
          <ul className="space-y-1">
            {ways.map(({ to, label, gates, hooks }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two ways can be alike.
              <li key={i}>
                → <span className="font-medium">{visibleLine(to)}</span>{" "}
                <span className="text-sm text-muted">{visibleLine(label)}</span>
                {gates.map(({ section, fields, verdict }) => (
                  <span key={section} className="block pl-4 text-sm text-muted">
                    gate: {visibleLine(section)}
                    {fields.length > 0 && ` with ${fields.map(visibleLine).join(", ")}`}
                    {verdict !== null && `, verdict ${verdict}`}
                  </span>
                ))}
                {hooks.length > 0 && (
                  <span className="block pl-4 text-sm text-muted">does {hooks.map(visibleLine).join(", ")}</span>
                )}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {into.length > 0 && (
        <Fact title="Comes from">{[...new Set(into.map(({ from }) => visibleLine(from)))].join(", ")}</Fact>
      )}
      {notes.map((note) => (
        <Note key={note.text} note={note} />
      ))}
    </aside>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h4 className="text-sm text-muted">{title}</h4>
      {children}
    </div>
  );
}
