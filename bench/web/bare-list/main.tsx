// The smallest page with the libraries of ours: a router, a cache, and a list of which only visible rows are drawn. Its size is
// what the libraries cost, and its work what ten updates a second cost.
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, Link, Outlet, RouterProvider } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, StrictMode, useRef } from "react";
import { createRoot } from "react-dom/client";
import "./styles.css";

interface BareRow {
  readonly number: number;
  readonly summary: string;
}

const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
const rowsKey = ["rows"];

function List() {
  const { data: rows = [] } = useQuery({
    queryKey: rowsKey,
    queryFn: async () => (await (await fetch("/rows")).json()) as readonly BareRow[],
  });
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
  });
  return (
    <div ref={box} className="h-dvh overflow-y-auto">
      <div className="relative" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : <Line key={key} row={row} start={start} />;
        })}
      </div>
    </div>
  );
}

const Line = memo(function Line({ row, start }: { row: BareRow; start: number }) {
  return (
    <div data-row className="absolute inset-x-0 flex h-7 gap-3" style={{ transform: `translateY(${start}px)` }}>
      <span>coffee#{row.number}</span>
      <span className="truncate">{row.summary}</span>
    </div>
  );
});

const root = createRootRoute({ component: Outlet });
const list = createRoute({ getParentRoute: () => root, path: "/", component: List });
const other = createRoute({ getParentRoute: () => root, path: "/other", component: () => <Link to="/">List</Link> });
const router = createRouter({ routeTree: root.addChildren([list, other]) });

new EventSource("/stream").onmessage = ({ data }) => {
  const changed = JSON.parse(data) as readonly BareRow[];
  client.setQueryData<readonly BareRow[]>(rowsKey, (rows) => {
    if (rows === undefined) return rows;
    const next = [...rows];
    for (const row of changed) next[row.number] = row;
    return next;
  });
};

const place = document.getElementById("page");
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
