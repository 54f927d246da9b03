import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bubblewrap } from "../../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import { root } from "../../documents.ts";
import { tryAfterVerdict } from "./after-verdict.ts";
import { asking } from "./asking.ts";
import { tryDecidingFiles } from "./deciding-files.ts";
import { documents } from "./documents.ts";
import { tryEnding } from "./ending.ts";
import { reduced } from "./reduced.ts";
import { tryReviewersView } from "./reviewers-view.ts";
import { stealing } from "./stealing.ts";
import { type Group, withTable } from "./table.ts";
import { tryInReview } from "./try-ways.ts";
import type { Measured } from "./way.ts";
import { type Column, openColumn } from "./world.ts";

// Every way is tried in both columns, and docs/promises.md has what came of it: npm run self-approval -- --write

const kinds: Readonly<Record<string, (column: Column) => Promise<readonly Measured[]>>> = {
  "A worker asks for more than its role may, while its work is reviewed": (column) => tryInReview(column, asking),
  "A worker takes what is another's": (column) => tryInReview(column, stealing),
  "A worker writes what a reviewer would write": (column) => tryInReview(column, documents),
  "A worker hides its work from the reviewer": tryReviewersView,
  "A worker changes its work around the verdict": tryAfterVerdict,
  "A worker ends the review": tryEnding,
  "Work changes what decides about work, where the workflow merges by itself": tryDecidingFiles,
  "A reviewer does more than to judge": (column) => tryInReview(column, reduced),
};

async function measure(isConfined: boolean): Promise<readonly Group[]> {
  const column = await openColumn(isConfined);
  try {
    return await Promise.all(
      Object.entries(kinds).map(async ([title, tryAll]) => ({ title, measured: await tryAll(column) })),
    );
  } finally {
    await column.close();
  }
}

const { works } = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();

test("docs/promises.md says of every way past a review whether it holds, without and in a sandbox", async () => {
  const [free, confined] = await Promise.all([measure(false), works ? measure(true) : undefined]);
  const file = join(root, "docs/promises.md");
  const document = readFileSync(file, "utf8");
  const measured = withTable(document, free, confined);
  if (process.env.SELF_APPROVAL === "write") writeFileSync(file, measured);
  else expect(document, "Write the table again: npm run self-approval -- --write").toBe(measured);
});
