import { expect, test } from "vitest";
import { startDemo } from "../web/demo-stage.ts";

test("the demo's four tasks are answered on a phone, and reviewed and merged with a mouse", async () => {
  const demo = await startDemo();
  const { page, misdeeds } = await demo.browser();
  page.setDefaultTimeout(100_000);
  const phone = await demo.browser({ width: 390, height: 844 }, await demo.link());
  phone.page.setDefaultTimeout(100_000);
  const ofPhone = phone.page.getByRole("region", { name: "Waiting for you" }).getByRole("button");
  await ofPhone.filter({ hasText: "Say when we are open" }).tap();
  await phone.page.getByRole("textbox", { name: "Your answer" }).fill("On Sundays from 9 to 12.");
  await phone.page.getByRole("button", { name: /^Answer( Ctrl ↵)?$/ }).tap();
  const waiting = page.getByRole("region", { name: "Waiting for you" }).getByRole("button");
  for (let merged = 1; merged <= 4; merged++) {
    await waiting.filter({ hasNotText: "Are we open" }).first().click();
    await page.getByText("It is what was asked for.").first().waitFor();
    await page.getByRole("link", { name: "Open", exact: true }).click();
    const title = (await page.getByRole("heading", { level: 1 }).textContent()) ?? "";
    await page.getByRole("link", { name: /^Changes/ }).click();
    await page.locator("td.diff-code").first().waitFor();
    await page.getByRole("button", { name: "Merge m" }).click();
    await page
      .getByRole("dialog")
      .getByText(/commits? into main/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: /merge/i }).last().click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(demo.merged).toBe(String(merged));
    if (merged === 2) await demo.killDaemon();
    await page.getByRole("link", { name: "Inbox" }).filter({ visible: true }).click();
    await expect.poll(() => waiting.filter({ hasText: title }).count()).toBe(0);
  }
  await demo.saying(/4 tasks merged into main/);
  await phone.page.getByRole("link", { name: "Inbox" }).filter({ visible: true }).tap();
  await phone.page.getByText("Nothing waits for you").waitFor();
  expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  expect(await demo.interrupt()).toBe(0);
  expect([...misdeeds, ...phone.misdeeds]).toEqual([]);
});
