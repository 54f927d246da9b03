import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { startDemo } from "../web/demo-stage.ts";

// Eight agents at once take long on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const question = "Are we open on Sundays";
const waiting = (page: Page) => page.getByRole("region", { name: "Waiting for you" }).getByRole("button");
const needs = (page: Page) => page.getByRole("region", { name: "What it needs" });
const parts = (page: Page) => page.getByRole("navigation", { name: "Parts of the task" });
const shownPart = (page: Page) => parts(page).locator("[aria-current=page]").textContent();
const merge = (page: Page) => page.getByRole("button", { name: "Merge m" });

test("the demo's four tasks are answered, reviewed and merged with the keyboard alone, across a restart of the daemon", async () => {
  const demo = await startDemo();
  const { page, misdeeds } = await demo.browser();
  page.setDefaultTimeout(100_000);
  const press = (key: string) => page.keyboard.press(key);
  const rowsOf = (text: string) => waiting(page).filter({ hasText: text });
  let merged = 0;
  let isAnswered = false;
  while (merged < 4) {
    await press("g");
    await press("i");
    await waiting(page).first().waitFor();
    await press("j");
    await needs(page).waitFor();
    if (!isAnswered && (await needs(page).getByText(question).isVisible())) {
      await press("a");
      await page.keyboard.type("On Sundays from 9 to 12.");
      await press("Control+Enter");
      await page.getByText("signalbox task answer").first().waitFor();
      await expect.poll(() => rowsOf(question).count()).toBe(0);
      isAnswered = true;
      continue;
    }
    await merge(page).waitFor();
    // The review: the task's own page, and its changes.
    await press("Enter");
    await parts(page).waitFor();
    const title = (await page.getByRole("heading", { level: 1 }).textContent()) ?? "";
    for (let part = await shownPart(page); part !== "Changes"; part = await shownPart(page)) {
      await press("j");
      await expect.poll(() => shownPart(page)).not.toBe(part);
    }
    await page.locator("td.diff-code").first().waitFor();
    await press("m");
    await page
      .getByRole("dialog")
      .getByText(/commits? into main/)
      .waitFor();
    await press("Tab");
    await press("Enter");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(demo.merged).toBe(String(++merged));
    if (merged === 1) await demo.killDaemon();
    await press("g");
    await press("i");
    await expect.poll(() => rowsOf(title).count()).toBe(0);
  }
  expect(isAnswered).toBe(true);
  await page.getByText("Nothing waits for you").waitFor();
  await demo.saying(/4 tasks merged into main/);
  expect(await demo.interrupt()).toBe(0);
  expect(misdeeds).toEqual([]);
});
