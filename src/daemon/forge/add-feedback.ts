import { withSection } from "../../engine/task-document.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { documentChanged } from "../look.ts";
import { parsedDocument } from "../parsed-document.ts";
import type { Turns } from "../turns.ts";
import { storedAs } from "../write-document.ts";

const section = "Feedback";

/** A batch in one section must stay readable. */
const mostItems = 50;

/**
 * Writes what was said about a pull request into the task's document, where its agents see it, and into its history. What
 * stands there already is not added again: after a crash the same may be told once more.
 */
export async function addFeedback(
  { store, clock, inTurn }: { readonly store: Store; readonly clock: Clock; readonly inTurn: Turns },
  { task, number, url, headCommit }: PullRequestRecord,
  items: readonly string[],
): Promise<boolean> {
  return inTurn(task, async () => {
    const stored = await store.getDocument(task);
    const before = parsedDocument(stored);
    const body = before.byHeading.get(section)?.body ?? "";
    const missing = items.filter((item) => !body.includes(item));
    if (missing.length === 0) return false;
    const left = missing.length - mostItems;
    const added = [...missing.slice(0, mostItems), ...(left > 0 ? [`- … and ${left} more: ${url}`] : [])];
    const after = withSection(before, section, [body, ...added].filter((each) => each !== "").join("\n\n"));
    const fingerprint = after.byHeading.get(section)?.fingerprint ?? "";
    // By the engine, not by a person: whoever can comment on a forge cannot pass for one at a gate.
    const author = { role: "engine", run: "", commit: headCommit, fingerprint };
    const document = storedAs(after, { ...stored.authors, [section]: author });
    const events = [
      documentChanged({ role: "engine" }, [section]),
      { type: "pr.feedback", by: "engine", data: { number, url, text: added.join("\n\n") }, set: {} } as const,
    ];
    await store.saveDocument(task, document, events, clock.now());
    return true;
  });
}
