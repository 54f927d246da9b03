import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ListQuery, queries, type Row } from "../data/queries.ts";
import { useKeys } from "../keys/use-keys.ts";
import { boardSorts } from "../search.ts";
import { Button } from "../ui/button.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { ColumnView } from "./column-view.tsx";
import { cardBeside, columnBeside, columnsOf, type Direction, workflowsOf } from "./columns.ts";
import { Drop } from "./drop.tsx";

const firstTasks = 300;
/** The most that the daemon lists at once. */
const maxTasks = 1_000;
const maxOver = "40";

/** A workflow's tasks by state. A card can be put only where a way leads. */
export function Board() {
  const search = useSearch({ from: "/board" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/board" });
  const [limit, setLimit] = useState(firstTasks);
  const { sort = "newest" } = search;
  const filter: ListQuery = {
    ...(project === undefined ? {} : { project }),
    ...(search.q === undefined ? {} : { q: search.q }),
    ...(search.label === undefined ? {} : { label: search.label }),
    sort,
  };
  const open = useQuery({
    ...queries.tasks({ ...filter, open: "true", limit: String(limit) }),
    placeholderData: (before) => before,
  });
  const over = useQuery({
    ...queries.tasks({ ...filter, open: "false", sort: sort === "newest" ? "updated" : sort, limit: maxOver }),
    placeholderData: (before) => before,
  });
  const rows = useMemo(() => [...(open.data?.tasks ?? []), ...(over.data?.tasks ?? [])], [open.data, over.data]);
  const workflows = workflowsOf(rows);
  const workflow = search.workflow ?? workflows[0] ?? "";
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const isFiltered = search.q !== undefined || search.label !== undefined;
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2">
        <h1 className="mr-2 font-semibold">Board</h1>
        {workflows.length > 1 && (
          <select
            aria-label="Workflow"
            value={workflow}
            onChange={(event) => change({ workflow: event.target.value, task: undefined } as never)}
            className="rounded-md border border-line bg-panel px-2 py-1"
          >
            {[...new Set([workflow, ...workflows])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <SearchField value={search.q ?? ""} onChange={(q) => change({ q: q === "" ? undefined : q } as never)} />
        <select
          aria-label="Order"
          value={sort}
          onChange={(event) => change({ sort: event.target.value as typeof sort })}
          className="rounded-md border border-line bg-panel px-2 py-1"
        >
          {boardSorts.map((each) => (
            <option key={each} value={each}>
              {orderNames[each]}
            </option>
          ))}
        </select>
        {open.data?.next != null && limit < maxTasks && (
          <Button onClick={() => setLimit(maxTasks)}>The first {limit} are shown. Show more</Button>
        )}
        {open.data?.next != null && limit >= maxTasks && (
          <span className="text-sm text-muted">The first {maxTasks} are shown. Search to see others.</span>
        )}
      </header>
      <Loaded query={open} what="the tasks">
        {() =>
          rows.length === 0 ? (
            <Empty title={isFiltered ? "No task has these words" : "No tasks yet"}>
              {isFiltered ? "Words are looked for in number, branch, summary, labels and state." : "Create one with c."}
            </Empty>
          ) : (
            <Columns
              key={workflow}
              rows={rows.filter((row) => row.workflow === workflow)}
              chosen={search.task}
              choose={(task) => change({ task })}
            />
          )
        }
      </Loaded>
    </div>
  );
}

const orderNames = {
  newest: "newest first",
  updated: "last changed first",
  waiting: "longest waiting first",
  priority: "highest priority first",
  cost: "highest cost first",
} as const;

interface ColumnsProps {
  rows: readonly Row[];
  chosen: string | undefined;
  choose: (id: string) => void;
}

function Columns({ rows, chosen, choose }: ColumnsProps) {
  const navigate = useNavigate();
  // Every task knows the states of its workflow; the newest one has the newest version.
  const newest = rows.reduce<Row | undefined>(
    (a, b) => (a === undefined || b.createdAt > a.createdAt ? b : a),
    undefined,
  );
  const view = useQuery({ ...queries.view(newest?.id ?? ""), enabled: newest !== undefined });
  const columns = useMemo(() => columnsOf(view.data?.states ?? [], rows), [view.data?.states, rows]);
  /** A card that is dragged or picked with the keyboard, and the column that the keyboard has chosen for it. */
  const [picked, setPicked] = useState<{ readonly row: Row; readonly over: string | undefined }>();
  const [dropped, setDropped] = useState<{ readonly row: Row; readonly to: string }>();
  const chooser = useRef(choose);
  chooser.current = choose;
  const onChoose = useCallback((id: string) => chooser.current(id), []);
  const onOpen = useCallback((id: string) => void navigate({ to: "/tasks/$task", params: { task: id } }), [navigate]);
  const onDrag = useCallback((row: Row | undefined) => setPicked(row && { row, over: undefined }), []);
  const drop = (row: Row, to: string) => {
    setPicked(undefined);
    if (to !== row.status) setDropped({ row, to });
  };
  const go = (direction: Direction) => {
    const id = cardBeside(columns, chosen, direction);
    if (id === undefined) return;
    choose(id);
    // The card may be drawn only after its column was scrolled.
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(`card-${id}`)?.focus()));
  };
  const pressPicked = (key: string, { row, over = row.status }: NonNullable<typeof picked>): boolean => {
    if (key === "ArrowLeft" || key === "ArrowRight")
      setPicked({ row, over: columnBeside(columns, over, key === "ArrowRight" ? 1 : -1) });
    else if (key === "Enter" || key === " ") drop(row, over);
    else if (key === "Escape") setPicked(undefined);
    else return false;
    return true;
  };
  const press = (key: string): boolean => {
    if (picked !== undefined) return pressPicked(key, picked);
    const direction = directions[key];
    if (direction !== undefined) go(direction);
    else if (key === " ") {
      const row = rows.find(({ id }) => id === chosen);
      if (row === undefined) return false;
      setPicked({ row, over: row.status });
    } else return false;
    return true;
  };
  const open = () => {
    if (picked !== undefined) return void pressPicked("Enter", picked);
    if (chosen !== undefined) onOpen(chosen);
  };
  useKeys(
    {
      next: () => go("down"),
      previous: () => go("up"),
      open,
      ...(picked === undefined ? {} : { leave: () => setPicked(undefined) }),
    },
    press,
  );
  useCardKeys(press);
  return (
    <>
      <div className="flex min-h-0 flex-1 gap-2 overflow-x-auto p-3">
        {columns.map((column) => (
          <ColumnView
            key={column.name}
            column={column}
            chosen={chosen}
            picked={picked?.row}
            isTarget={picked?.over === column.name && picked.over !== picked.row.status}
            onDrop={(to) => picked !== undefined && drop(picked.row, to)}
            {...{ onChoose, onOpen, onDrag }}
          />
        ))}
      </div>
      <p
        aria-live="polite"
        className="border-t border-line bg-panel px-4 py-1 text-sm text-muted pointer-coarse:hidden"
      >
        {picked === undefined
          ? "Space picks a card up; the arrows choose a column, Enter puts it there, Escape leaves it."
          : `${picked.row.project}#${picked.row.number} to ${picked.over ?? "…"}: Enter puts it there, Escape leaves it.`}
      </p>
      {dropped !== undefined && <Drop {...dropped} onEnd={() => setDropped(undefined)} />}
    </>
  );
}

const directions: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** A focused card is a button, whose Enter and Space the page's own keys leave to it. */
function useCardKeys(press: (key: string) => boolean): void {
  const current = useRef(press);
  current.current = press;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const isCard = event.target instanceof Element && event.target.id.startsWith("card-");
      if (!isCard || (event.key !== " " && event.key !== "Enter") || event.defaultPrevented) return;
      if (current.current(event.key)) event.preventDefault();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}
