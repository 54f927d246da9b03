import { expect, test, vi } from "vitest";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("show prints a section of the task file, or all of it, and says which sections there are", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  await signalbox(["task", "create", "One pot"], coffee);
  const text = "## Review\n\nVERDICT: FAIL\n\nToo bitter.\u001b[2J\n\n## Second thoughts\n\nMilk?\n";
  expect((await signalbox(["task", "edit", "1", "--file", "-"], coffee, text)).code).toBe(0);
  const show = (...flags: readonly string[]) => signalbox(["task", "show", "1", ...flags], coffee);
  const review = { code: 0, stdout: expect.stringMatching(/^VERDICT: FAIL\n\nToo bitter\..*\n$/), stderr: "" };
  for (const name of ["Review", "## Review", "review"]) expect(await show("--section", name)).toEqual(review);
  expect((await show("--section", "Review")).stdout).not.toContain("\u001b");
  expect((await show("--section", "Second thoughts")).stdout).toBe("Milk?\n");
  const whole = (await show("--document")).stdout;
  expect(whole).toContain("## Review\n\nVERDICT: FAIL");
  expect(whole).toContain("## Second thoughts\n\nMilk?");
  expect(await show("--section", "Reviw")).toMatchObject({
    ...{ code: 3, stdout: "", stderr: expect.stringContaining('has no section "Reviw".\nDid you mean "Review"?') },
  });
  expect(await show("--section", "Review", "--json")).toMatchObject({ code: 2, stdout: "" });
  expect((await show()).stderr).toMatch(/To read the task file: +signalbox task show \w+ --document/);
});
