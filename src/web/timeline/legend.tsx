import type { StretchView, TimelineTask } from "../../api/overview.ts";
import { costText } from "../text/money.ts";
import { localTime, shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";

/** How each kind is drawn; they also differ in height, so that nobody needs the colours. */
export const kinds: Readonly<Record<StretchView["kind"], { readonly name: string; readonly look: string }>> = {
  me: { name: "waits for you", look: "h-5 rounded-sm border border-warn bg-warn-soft text-warn" },
  queued: { name: "waits for the machine", look: "h-2.5 rounded-sm border border-muted bg-sunken text-muted" },
  working: { name: "works", look: "h-5 rounded-sm bg-note text-on-accent" },
  idle: { name: "nothing happens", look: "h-px bg-muted/50" },
};

/** What the colours mean, and how much of each there is in the window. */
export function Legend({ tasks, since }: { tasks: readonly TimelineTask[]; since: number }) {
  const all = tasks.flatMap(({ stretches }) => stretches);
  const lengths = Map.groupBy(all, ({ kind }) => kind);
  const length = (kind: StretchView["kind"]) =>
    (lengths.get(kind) ?? []).reduce(
      (sum, { from, until }) => sum + Date.parse(until) - Math.max(since, Date.parse(from)),
      0,
    );
  const cost = sumOf(all);
  return (
    <ul className="flex flex-wrap items-center gap-x-5 gap-y-1 border-b border-line bg-panel px-4 py-1.5 text-sm text-muted">
      {(Object.keys(kinds) as StretchView["kind"][]).map((kind) => (
        <li key={kind} className="flex items-center gap-1.5">
          <span aria-hidden className={`inline-block w-5 ${kinds[kind].look}`} />
          {kinds[kind].name}
          <strong className="font-medium text-ink tabular-nums">{shortDuration(Math.max(0, length(kind)))}</strong>
        </li>
      ))}
      {cost !== "" && (
        <li className="ml-auto">
          cost <strong className="font-medium text-ink tabular-nums">{cost}</strong>
        </li>
      )}
    </ul>
  );
}

/** What some stretches have cost together. */
export function sumOf(stretches: readonly Pick<StretchView, "dollars" | "unknown">[]): string {
  const known = stretches.filter(({ dollars }) => dollars !== null);
  const dollars = known.length === 0 ? null : known.reduce((sum, each) => sum + (each.dollars ?? 0), 0);
  return costText({ dollars, unknown: stretches.reduce((sum, { unknown }) => sum + unknown, 0) });
}

/** The stretches of one task in words. */
export function StretchTable({ task, onOpen }: { task: TimelineTask; onOpen: () => void }) {
  return (
    <section
      aria-label="Stretches of the chosen task"
      className="max-h-[40%] shrink-0 overflow-y-auto border-t border-line bg-panel"
    >
      <h2 className="sticky top-0 flex items-center gap-3 border-b border-line bg-panel px-4 py-1.5 font-semibold">
        <span className="min-w-0 truncate">
          {task.project}#{task.number} {visibleLine(task.summary)}
        </span>
        <Button className="ml-auto" onClick={onOpen} hint="↵">
          Go to the task
        </Button>
      </h2>
      <table className="w-full text-left text-sm">
        <tbody>
          {task.stretches.toReversed().map(({ kind, state, from, until, runs, dollars, unknown }) => (
            <tr key={`${from} ${kind}`} className="border-b border-line last:border-0">
              <td className="w-8 py-1 pl-4">
                <span aria-hidden className={`inline-block w-5 ${kinds[kind].look}`} />
              </td>
              <td className="px-2 py-1 whitespace-nowrap">{kinds[kind].name}</td>
              <td className="px-2 py-1 [overflow-wrap:anywhere] max-md:px-1">{visibleLine(state)}</td>
              <td className="px-2 py-1 tabular-nums">{shortDuration(Date.parse(until) - Date.parse(from))}</td>
              <td className="px-2 py-1 whitespace-nowrap text-muted max-md:hidden">{localTime(from)}</td>
              <td className="px-2 py-1 font-mono text-xs max-md:hidden">{runs.map(visibleLine).join(", ")}</td>
              <td className="py-1 pr-4 text-right tabular-nums">{costText({ dollars, unknown })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
