import { createGit } from "../../src/adapters/git/git.ts";
import { Fault } from "../../src/fault.ts";

/** One of many processes that merge into the same branch at the same time. */
const [folder = "", ...branches] = process.argv.slice(2);
const control = await createGit({ env: process.env }).openControl(folder);
const author = { name: "Ada", email: "ada@example.org" };

for (const branch of branches) {
  for (let isDone = false; !isDone; ) {
    const onto = (await control.commitAt("refs/heads/main")) ?? "";
    const merged = await control.merge({ onto, branch, strategy: "merge", message: "Merge", author, date: 0 });
    if (merged.kind !== "merged") throw new Error(merged.kind);
    isDone = await control.moveRef("refs/heads/main", merged.commit, onto).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Fault && error.retry === "later") return false;
        throw error;
      },
    );
  }
}
