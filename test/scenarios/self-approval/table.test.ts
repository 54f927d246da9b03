import { expect, test } from "vitest";
import { tryAfterVerdict } from "./after-verdict.ts";
import { asking } from "./asking.ts";
import { documents } from "./documents.ts";
import { tryEnding } from "./ending.ts";
import { reduced } from "./reduced.ts";
import { tryReviewersView } from "./reviewers-view.ts";
import { stealing } from "./stealing.ts";
import { tryInReview } from "./try-ways.ts";
import { openColumn } from "./world.ts";

test.concurrent.each((process.env.COLUMN ?? "false,true").split(",").map((x) => x === "true"))("in a sandbox: %s", async (isConfined) => {
  const column = await openColumn(isConfined);
  try {
    const all = await Promise.all([
      tryInReview(column, asking), tryInReview(column, stealing), tryInReview(column, documents), tryReviewersView(column),
      tryAfterVerdict(column), tryInReview(column, reduced), tryEnding(column),
    ]);
    console.log(isConfined, JSON.stringify(all.flat().map(({ way, outcome, effect }) => `${outcome} ${way} ${effect}`), undefined, 1));
    expect(1).toBe(1);
  } finally {
    await column.close();
  }
}, 100_000);
