import { createHash } from "node:crypto";
import { type Issue, progressLabel, ticketOfIssue } from "../../../engine/issue-ticket.ts";
import { blockersOf } from "../../../engine/ready-tickets.ts";
import type { Ticket } from "../../../engine/ticket.ts";
import { Fault } from "../../../fault.ts";
import type { ForgeRepository } from "../../../ports/forge.ts";
import type { Tickets } from "../../../ports/tickets.ts";
import { jsonAt } from "../../json-at.ts";
import type { GithubClient } from "./client.ts";
import { listAt, numberAt, textOrEmptyAt } from "./json-at.ts";
import { pathOf } from "./path-of.ts";
import { writeComment } from "./write-comment.ts";

/** Not there, moved to another repository, or deleted. */
const absent = [301, 404, 410];

/**
 * Issues with a label, as tickets. Whoever may write to the repository decides which have it: on a public one anybody can
 * open an issue. Pull requests, which GitHub lists among them, are none.
 */
export function githubTickets(client: GithubClient, repository: ForgeRepository, label: string): Tickets {
  const one = async (id: string) => {
    if (!/^[1-9]\d{0,8}$/.test(id)) return undefined;
    const json = await client.get(pathOf(repository, "issues", id), { absent });
    return json === undefined || isPull(json) ? undefined : readIssue(json);
  };

  return {
    place: "issue",
    async list() {
      const path = `${pathOf(repository, "issues")}?state=all&labels=${encodeURIComponent(label)}`;
      const found = (await client.getAll(path)).filter((json) => !isPull(json)).map(readIssue);
      // What is written while we turn pages moves the rest to others.
      const issues = [...new Map(found.map((issue) => [issue.number, issue])).values()];
      const tickets = issues.sort((a, b) => a.number - b.number).map(ticketOfIssue);
      return { tickets: [...tickets, ...(await closedElsewhere(tickets, one))], broken: [] };
    },
    // The label says what may be begun. What was begun is closed also where somebody has taken it away since.
    async get(id) {
      const issue = await one(id);
      return issue && ticketOfIssue(issue);
    },
    async change(id, { status, note }) {
      const before = await one(id);
      if (before === undefined) throw missing(repository, id);
      // First: whoever reads that it is closed finds the reason there.
      if (note !== undefined)
        await writeComment(client, repository, { number: before.number, text: note.text, key: keyOf(note.text) });
      if (status !== undefined && status !== ticketOfIssue(before).status) await setStatus(id, before, status);
      return ticketOfIssue((await one(id)) ?? before);
    },
  };

  async function setStatus(id: string, { isOpen, labels }: Issue, status: string): Promise<void> {
    const path = pathOf(repository, "issues", id);
    if (status === "closed") {
      await client.send("PATCH", path, { state: "closed", state_reason: "completed" }, []);
      return;
    }
    if (!isOpen) await client.send("PATCH", path, { state: "open" }, []);
    const progress = labels.find((each) => each.toLowerCase() === progressLabel);
    if (status === "in_progress" && progress === undefined)
      await client.send("POST", `${path}/labels`, { labels: [progressLabel] }, []);
    if (status === "open" && progress !== undefined)
      await client.send("DELETE", pathOf(repository, "issues", id, "labels", progress), undefined, absent);
  }
}

/** A ticket may wait for an issue that is no ticket: that it is closed must be known. */
async function closedElsewhere(
  tickets: readonly Ticket[],
  one: (id: string) => Promise<Issue | undefined>,
): Promise<readonly Ticket[]> {
  const known = new Set(tickets.map(({ id }) => id));
  const waiting = tickets.filter(({ status }) => status !== "closed");
  const others = new Set(waiting.flatMap((ticket) => blockersOf(ticket, tickets)).filter((id) => !known.has(id)));
  const closed: Ticket[] = [];
  for (const id of others) {
    const issue = await one(id);
    if (issue !== undefined && !issue.isOpen) closed.push(ticketOfIssue(issue));
  }
  return closed;
}

function isPull(json: unknown): boolean {
  return jsonAt(json, "pull_request") !== undefined;
}

function readIssue(json: unknown): Issue {
  return {
    number: numberAt(json, "number"),
    isOpen: textOrEmptyAt(json, "state") === "open",
    title: textOrEmptyAt(json, "title"),
    body: textOrEmptyAt(json, "body"),
    labels: listAt(json, "labels").map((each) => (typeof each === "string" ? each : textOrEmptyAt(each, "name"))),
    assignee: textOrEmptyAt(json, "assignee", "login"),
    created: textOrEmptyAt(json, "created_at"),
  };
}

/** The same note is written once. */
function keyOf(text: string): string {
  return `ticket:${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

function missing({ owner, name }: ForgeRepository, id: string): Fault {
  return new Fault("ticket.missing", `${owner}/${name} has no issue ${JSON.stringify(id)}.`, {
    hint: "See those that are: signalbox ticket list",
  });
}
