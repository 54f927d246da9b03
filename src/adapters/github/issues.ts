import { createHash } from "node:crypto";
import { Fault } from "../../fault.ts";
import { jsonAt, textAt } from "../../json.ts";
import type { ForgeRepository } from "../../ports/forge.ts";
import type { Tickets } from "../../ports/tickets.ts";
import { blockersOf } from "../../tickets/ready-tickets.ts";
import { type Issue, progressLabel, type Ticket, ticketOfIssue } from "../../tickets/ticket.ts";
import { type GithubClient, pathOf } from "./client.ts";
import { requiredList, requiredNumber } from "./required.ts";
import { writeComment } from "./reviews.ts";

/** Missing, moved to another repository, or deleted. */
const absent = [301, 404, 410];

/**
 * Issues with a label, as tickets. Only people with write access can set the label, while on a public repository any
 * user can open an issue. Pull requests, which GitHub lists as issues, are left out.
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
      // New issues between two requests shift the rest to other pages, so some appear twice.
      const issues = [...new Map(found.map((issue) => [issue.number, issue])).values()];
      const tickets = issues.sort((a, b) => a.number - b.number).map(ticketOfIssue);
      return { tickets: [...tickets, ...(await closedElsewhere(tickets, one))], broken: [] };
    },
    // The label decides which issues may be started. A started issue is closed even if its label was removed since.
    async get(id) {
      const issue = await one(id);
      return issue && ticketOfIssue(issue);
    },
    async change(id, { status, note }) {
      const before = await one(id);
      if (before === undefined) throw missing(repository, id);
      // The note comes first, so that a closed issue always contains its reason.
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

/** The closed ones among the issues that tickets depend on and that are not tickets themselves. */
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
    number: requiredNumber(json, "number"),
    isOpen: textAt(json, "state") === "open",
    title: textAt(json, "title"),
    body: textAt(json, "body"),
    labels: requiredList(json, "labels").map((each) => (typeof each === "string" ? each : textAt(each, "name"))),
    assignee: textAt(json, "assignee", "login"),
    created: textAt(json, "created_at"),
  };
}

/** The key of a note: a note with the same text is written only once. */
function keyOf(text: string): string {
  return `ticket:${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

function missing({ owner, name }: ForgeRepository, id: string): Fault {
  return new Fault("ticket.missing", `${owner}/${name} has no issue ${JSON.stringify(id)}.`, {
    hint: "List the tickets: signalbox ticket list",
  });
}
