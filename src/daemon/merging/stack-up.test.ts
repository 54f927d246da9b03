import { expect, test } from "vitest";
import type { ControlRepository, MergeAnswer } from "../../ports/control-repository.ts";
import type { Ready } from "./merge-queue.ts";
import { stackUp } from "./stack.ts";

const author = { name: "Ada", email: "ada@example.org" };
const conflict = { kind: "conflict", files: [], text: "" } as const;

function ready(task: string): Ready {
  const rest = {
    project: "coffee",
    target: "main",
    strategy: "merge",
    at: 0,
    stay: 0,
    priority: 0,
    message: "",
  } as const;
  return { task, commit: `c-${task}`, ...rest };
}

async function stack(answers: readonly unknown[]) {
  const control = { mergeAll: async () => answers as readonly MergeAnswer[] } as unknown as ControlRepository;
  const entries = answers.map((_, index) => ready(String(index)));
  const { merged, others } = await stackUp(control, "base", entries, author);
  return entries.map((entry) => others.get(entry)?.kind ?? merged.find((each) => each.entry === entry)?.after);
}

test("an entry that conflicts with the branch is a conflict; one that conflicts with another entry is retried alone", async () => {
  const merged = (commit: string) => ({ kind: "merged", commit, tree: "" });
  expect(await stack([conflict, merged("m1"), conflict])).toEqual(["conflict", "m1", "again"]);
  expect(await stack([{ kind: "up-to-date" }, conflict])).toEqual(["base", "conflict"]);
});
