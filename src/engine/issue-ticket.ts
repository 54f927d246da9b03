import type { Ticket } from "./ticket.ts";

/** An issue of a forge, as far as a ticket is made of it. */
export interface Issue {
  readonly number: number;
  readonly isOpen: boolean;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignee: string;
  readonly created: string;
}

/** Somebody is at it: the label by which an open issue is `in_progress`. */
export const progressLabel = "in progress";
const usualPriority = 2;

/** Reads an issue as a ticket: its number is the id, what it waits for stands in its text, how urgent it is on its labels. */
export function ticketOfIssue(issue: Issue): Ticket {
  const { number, isOpen, title, body, labels, assignee, created } = issue;
  const isInProgress = labels.some((label) => label.toLowerCase() === progressLabel);
  return {
    id: String(number),
    status: isOpen ? (isInProgress ? "in_progress" : "open") : "closed",
    deps: blockersIn(body).filter((dep) => dep !== String(number)),
    links: [],
    created,
    type: "task",
    priority: priorityOf(labels),
    assignee,
    parent: "",
    title,
    // With the title, as the file of a ticket has it.
    body: `# ${title}\n\n${body}`,
  };
}

/** `Blocked by #12, #13` or `Depends on #12`, on a line of its own; also as an item of a list. Other repositories' do not count. */
function blockersIn(body: string): readonly string[] {
  const found = body.split(/\r?\n/).flatMap((line) => {
    const [, listed = ""] = /^\s*(?:[-*]\s+)?(?:blocked by|depends on):?\s(.*)$/is.exec(line) ?? [];
    return [...listed.matchAll(/(?<![\w/])#(\d{1,9})\b/g)].map(([, number = ""]) => String(Number(number)));
  });
  return [...new Set(found)];
}

/** `P0` to `P4`; of several the most urgent. */
function priorityOf(labels: readonly string[]): number {
  const found = labels.flatMap((label) => {
    const [, digit] = /^p([0-4])$/i.exec(label) ?? [];
    return digit === undefined ? [] : [Number(digit)];
  });
  return found.length === 0 ? usualPriority : Math.min(...found);
}
