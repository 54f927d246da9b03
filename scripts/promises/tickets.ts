import { type Evidence, type Git, gitIn, type History, readTicket, type TicketFile } from "./evidence.ts";
import { about, overAt } from "./history.ts";
import { contains, landedOf } from "./repository.ts";

/** A ticket is closed if and only if its work is in the branch, and nothing else in its file changes. */
export function ticketProblems({ repository, histories, tickets }: Evidence): readonly string[] {
  const git = gitIn(repository);
  return tickets.flatMap((ticket) => {
    const done = histories
      .filter(({ task }) => task.ticket === ticket.id)
      .filter((history) => landedOf(history) !== undefined);
    const over = done.filter(({ isOpen }) => !isOpen);
    const isClosed = ticket.status === "closed";
    const problems = [
      ...(isClosed && done.length === 0 ? ["it is closed, but no task has brought its work in"] : []),
      ...(isClosed && over.length < done.length ? ["it is closed, but its task is not over"] : []),
      ...(!isClosed && over.length > 0 ? [`its work is in, but it is ${ticket.status}`] : []),
      ...(isClosed ? noteProblems(git, ticket, done) : []),
      ...textProblems(git, ticket),
    ];
    return problems.map((problem) => `ticket ${ticket.id}: ${problem}`);
  });
}

/** Each ticket and each agent has at most one task at a time, and no ticket begins before its dependencies are merged. */
export function assignmentProblems({ histories, tickets }: Evidence): readonly string[] {
  const deps = new Map(tickets.map(({ id, deps: of }) => [id, of]));
  return [
    ...overlaps(histories, "the ticket", ({ task }) => task.ticket),
    // The branch of an assigned ticket contains the agent's name.
    ...overlaps(
      histories,
      "the agent",
      ({ task }) => /^agent\/([^/]+)-/.exec(task.branch.replace(`-${task.ticket}`, "-"))?.[1] ?? "",
    ),
    ...histories.flatMap((history) =>
      about(
        history,
        (deps.get(history.task.ticket) ?? []).flatMap((dep) => {
          const landed = histories.filter(({ task }) => task.ticket === dep).flatMap((each) => landedOf(each) ?? []);
          const isBefore = landed.some(({ position }) => position < beganAt(history));
          return isBefore ? [] : [`it was begun before the work of ${dep}, which it depends on, was in`];
        }),
      ),
    ),
  ];
}

function overlaps(histories: readonly History[], what: string, of: (history: History) => string): readonly string[] {
  return [
    ...Map.groupBy(
      histories.toSorted((a, b) => beganAt(a) - beganAt(b)),
      of,
    ),
  ].flatMap(([name, those]) =>
    those.slice(1).flatMap((history, index) => {
      const before = those[index];
      return name === "" || before === undefined || overAt(before) < beganAt(history)
        ? []
        : [`${what} ${name} was given ${history.task.id} while it had ${before.task.id}`];
    }),
  );
}

function beganAt({ events }: History): number {
  return events[0]?.position ?? 0;
}

function noteProblems(git: Git, { text }: TicketFile, done: readonly History[]): readonly string[] {
  const notes = [...text.matchAll(/^Done by \S+ \((\w+)\), merged into \S+ with (\w{40})\.$/gm)];
  return [
    ...(notes.length <= 1 ? [] : [`it was closed ${notes.length} times`]),
    ...notes.flatMap(([, task, commit = ""]) => [
      ...(done.some((history) => history.task.id === task && landedOf(history)?.after === commit)
        ? []
        : [`it says that ${task} was merged with ${commit}, which history does not`]),
      ...(contains(git, commit) ? [] : [`it says that its work is in ${commit}, which the branch does not have`]),
    ]),
  ];
}

/** The allowed differences to the committed file: the status, and a note at its end. */
function textProblems(git: Git, { id, text }: TicketFile): readonly string[] {
  const committed = git.try("show", `HEAD:.tickets/${id}.md`);
  if (!committed.ok) return [];
  const before = readTicket(id, committed.said);
  const asBefore = text.replace(/^status: .*$/m, `status: ${before.status}`).trimEnd();
  const rest = asBefore.startsWith(before.text.trimEnd()) ? asBefore.slice(before.text.trimEnd().length) : undefined;
  return rest === undefined || !/^(\n+## Notes\n[\s\S]*)?$/.test(rest)
    ? ["more of it was changed than its status"]
    : [];
}
