import { createGit } from "../../../src/adapters/git/git.ts";
import { Fault } from "../../../src/fault.ts";

/** A process that merges and publishes orders one after the other, until it is killed or has none left. */
const [folder = "", repository = "", ...orders] = process.argv.slice(2);
const author = { name: "Ada", email: "ada@example.org" };
const say = (...words: readonly string[]) => process.stdout.write(`${words.join(" ")}\n`);

say("begun");
const control = await createGit({ env: process.env }).openControl(folder);
for (const order of orders) {
  const [number = "", branch = ""] = order.split(":");
  while (!(await mergeOnce(number, branch)));
  say("done", number);
}

/** True if the user's branch contains the commit. */
async function mergeOnce(number: string, branch: string): Promise<boolean> {
  try {
    const { branches } = await control.syncFrom({ from: repository, name: "user" });
    const onto = branches.main ?? "";
    const message = `Merge ${number}`;
    const entries = [{ branch, strategy: "merge", message, date: 0 } as const];
    const [merged] = await control.mergeAll({ onto, author, entries });
    if (merged?.kind === "up-to-date") return true;
    if (merged?.kind !== "merged") throw new Error(merged?.kind);
    await control.moveRef("refs/heads/main", merged.commit, await control.commitAt("refs/heads/main"));
    const published = await control.publish({ repository, branch: "main", commit: merged.commit, expected: onto });
    if (published.kind !== "waits") return published.kind === "published";
    say("waits", published.reason, published.text);
    process.exit(2);
  } catch (error) {
    // As the daemon does: retry if the fault allows it.
    if (error instanceof Fault && error.retry === "later") return false;
    throw error;
  }
}
