import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { dollarText, shortNumber } from "../text/money.ts";
import { visibleLine } from "../text/visible.ts";
import { Plain } from "../ui/text.tsx";

type Budget = TaskView["budgets"][number] & { readonly task: string };

/** What is left of the budgets of open tasks, those with the least first; above them budgets that let no run start. */
export function Budgets({ budgets }: { budgets: readonly Budget[] }) {
  const { data: status } = useQuery(queries.status);
  const spent = status?.budgets ?? [];
  if (budgets.length === 0 && spent.length === 0) return null;
  return (
    <section aria-label="Budgets" className="mx-4 mt-3 rounded-lg border border-line bg-panel">
      <h2 className="border-b border-line px-3 py-2 font-semibold">Budgets</h2>
      {spent.map(({ reason, fix }) => (
        <div key={reason} className="border-b border-line bg-warn-soft px-3 py-2 last:border-0">
          <Plain text={reason} className="font-medium" />
          <Plain text={fix} className="text-sm text-muted" />
        </div>
      ))}
      <ul className="grid gap-x-6 gap-y-2 p-3 sm:grid-cols-2 xl:grid-cols-3">
        {budgets.map((budget) => (
          <li key={`${budget.task} ${budget.kind}`}>
            <BudgetBar budget={budget} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function BudgetBar({ budget: { task, of, kind, limit, spent, reserved, left, unknown } }: { budget: Budget }) {
  const write = (value: number) => (kind === "cost" ? dollarText(value) : `${shortNumber(value)} tokens`);
  const part = (value: number) => `${Math.min(100, (100 * value) / limit)}%`;
  const isLow = left <= limit / 10;
  return (
    <>
      <p className="flex gap-2 text-sm">
        <Link to="/tasks/$task" params={{ task }} className="font-mono text-accent underline">
          {visibleLine(of)}
        </Link>
        <span className={`ml-auto tabular-nums ${isLow ? "font-semibold text-bad" : "text-muted"}`}>
          {write(Math.max(0, left))} of {write(limit)} left
        </span>
      </p>
      <div aria-hidden className="mt-1 flex h-2 overflow-hidden rounded bg-sunken">
        <span className={isLow ? "bg-bad" : "bg-accent"} style={{ width: part(spent) }} />
        <span className="folded bg-line" style={{ width: part(reserved) }} />
      </div>
      {(unknown > 0 || reserved > 0) && (
        <p className="text-xs text-muted">
          {reserved > 0 ? `${write(reserved)} reserved for runs that have not ended. ` : ""}
          {unknown > 0 ? `${unknown === 1 ? "1 run" : `${unknown} runs`} of unknown use.` : ""}
        </p>
      )}
    </>
  );
}
