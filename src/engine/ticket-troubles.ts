/** What can be told of a ticket by its place among the others. */
interface Placed {
  readonly id: string;
  readonly status: string;
  readonly deps: readonly string[];
}

/** Why tickets can never be ready as things are, a sentence each: what they wait for is not there, or waits for them. */
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

/** Those that wait for each other, also by way of others, together; each once. */
function circlesAmong(tickets: readonly Placed[]): readonly (readonly string[])[] {
  const deps = new Map(tickets.map((ticket) => [ticket.id, ticket.deps]));
  // Whoever waits for nobody, or is waited for by nobody, is in none: most are not worth following.
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
