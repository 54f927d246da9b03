import type { Ticket } from "./ticket.ts";

/**
 * The order in which ready tickets are given out: the most urgent first and, among equally urgent tickets, the one with
 * the longest chain of waiting tickets behind it, so that long chains begin early.
 */
export function givingOrder(tickets: readonly Ticket[]): readonly Ticket[] {
  const waiting = new Map<string, string[]>();
  for (const { id, deps, status } of tickets)
    if (status !== "closed") for (const dep of deps) waiting.set(dep, [...(waiting.get(dep) ?? []), id]);
  const lengths = new Map<string, number>();
  const behind = (id: string): number => {
    const known = lengths.get(id);
    if (known !== undefined) return known;
    // Tickets that wait for each other are never ready, and must not cause an endless loop.
    lengths.set(id, 0);
    const length = Math.max(0, ...(waiting.get(id) ?? []).map((next) => 1 + behind(next)));
    lengths.set(id, length);
    return length;
  };
  return readyTickets(tickets).toSorted((a, b) => a.priority - b.priority || behind(b.id) - behind(a.id));
}

/** The tickets on which work can begin or continue, the most urgent first, as `tk ready` lists them. */
export function readyTickets(tickets: readonly Ticket[]): readonly Ticket[] {
  return tickets
    .filter((ticket) => isUnfinished(ticket) && blockersOf(ticket, tickets).length === 0)
    .toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** The dependencies of a ticket that are not closed. A missing dependency counts as not closed. */
export function blockersOf({ deps }: Ticket, tickets: readonly Ticket[]): readonly string[] {
  const closed = new Set(tickets.filter(({ status }) => status === "closed").map(({ id }) => id));
  return deps.filter((dep) => !closed.has(dep));
}

/** Whether there is work to do. Unknown statuses count as finished. */
export function isUnfinished({ status }: Pick<Ticket, "status">): boolean {
  return status === "open" || status === "in_progress";
}

/** The fields that show a ticket's place among the others. */
interface Placed {
  readonly id: string;
  readonly status: string;
  readonly deps: readonly string[];
}

/** Why tickets can never become ready, one sentence each: a dependency is missing, or tickets wait for each other. */
export function ticketTroubles(tickets: readonly Placed[]): readonly string[] {
  const known = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const isOpen = (id: string) => known.has(id) && known.get(id)?.status !== "closed";
  const waiting = tickets.filter(({ id }) => isOpen(id));
  const missing = waiting.flatMap(({ id, deps }) => {
    const gone = deps.filter((dep) => !known.has(dep));
    return gone.length === 0 ? [] : [`${id} waits for ${gone.join(", ")}, and there is no such ticket.`];
  });
  return [...missing, ...circlesAmong(waiting).map(sentence)];
}

function sentence(circle: readonly string[]): string {
  return circle.length === 1
    ? `${circle[0]} waits for itself. Take it out of its deps.`
    : `${circle.join(", ")} wait for each other. Take something out of their deps.`;
}

/** The groups of tickets that wait for each other, directly or through others. */
function circlesAmong(tickets: readonly Placed[]): readonly (readonly string[])[] {
  const deps = new Map(tickets.map((ticket) => [ticket.id, ticket.deps]));
  // A ticket that waits for no other, or that no other waits for, is in no cycle: drop these first.
  let left = new Set(deps.keys());
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const awaited = new Set([...left].flatMap((id) => deps.get(id) ?? []));
    left = new Set([...left].filter((id) => awaited.has(id) && deps.get(id)?.some((dep) => left.has(dep))));
  }
  const reached = new Map([...left].map((id) => [id, reachedFrom(id, left, deps)]));
  const circles: string[][] = [];
  for (const id of left) {
    if (!reached.get(id)?.has(id) || circles.some((circle) => circle.includes(id))) continue;
    circles.push([...left].filter((other) => reached.get(id)?.has(other) && reached.get(other)?.has(id)));
  }
  return circles;
}

function reachedFrom(
  id: string,
  among: ReadonlySet<string>,
  deps: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const dep of deps.get(next) ?? [])
      if (among.has(dep) && !reached.has(dep)) {
        reached.add(dep);
        open.push(dep);
      }
  return reached;
}
