import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { openWebStage, type WebStage } from "./stage.ts";

const script = `roles:
  worker:
    - when: { prompt: "First plan" }
      steps:
        - section: { heading: "## Questions", text: "How many?" }
        - cli: [task, update, --status, clarification]
    - steps: [{ hang: deaf }]
`;

let stage: WebStage;

beforeAll(async () => {
  stage = await openWebStage({ script });
});

afterAll(() => stage.close());

test("a link of another daemon signs nobody in, leaves the address, and says which command prints a new one", async () => {
  const { page, goTo, misdeeds } = await stage.stranger();
  await goTo(`/#sign-in=${"0".repeat(48)}`);
  await page.getByRole("alert").waitFor();
  await page.getByText("$ signalbox web").waitFor();
  expect(page.url()).not.toContain("sign-in");
  await page.reload();
  await page.getByText("This browser is not signed in").waitFor();
  expect(misdeeds).toEqual([]);
});

test("a page of another version than the daemon says so, and a reload brings the daemon's own", async () => {
  const { page, goTo } = await stage.browser();
  await page.route("**/v1/**", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "signalbox-version": "9.9.9" } });
  });
  await goTo("/board");
  const banner = page.getByRole("alert").filter({ hasText: "The daemon is version 9.9.9, this page is" });
  await banner.waitFor();
  await page.unroute("**/v1/**");
  await banner.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { name: "Board" }).waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("of two tabs that answer one wins, and the other sees what won", async () => {
  const task = await stage.create("Count them", { branch: "count" });
  await stage.until(task, ({ needsPerson }) => needsPerson);
  const { page: one, goTo, misdeeds } = await stage.browser();
  const other = await one.context().newPage();
  await goTo(`/?task=${task}`);
  await other.goto(`${stage.address}/?task=${task}`);
  for (const page of [one, other]) await page.getByRole("textbox", { name: "Your answer" }).fill("Two");
  await one.bringToFront();
  await one.getByRole("textbox", { name: "Your answer" }).press("Control+Enter");
  await one.getByText(`signalbox task answer ${task} -m Two`).waitFor();
  await other.getByText("This task does not wait for you now").waitFor();
  await other.goto(`${stage.address}/tasks/${task}?part=task-file`);
  await other.getByText("Two").first().waitFor();
  expect(misdeeds).toEqual([]);
});

test("an answer that is refused stays in its field, also after a reload", async () => {
  const task = await stage.create("Weigh them", { branch: "weigh" });
  await stage.until(task, ({ needsPerson }) => needsPerson);
  const { page, goTo } = await stage.browser();
  await goTo(`/?task=${task}`);
  const reasons = [{ code: "answered", text: "Not this time.", fix: "" }];
  const refusal = { error: { code: "refused", message: "Not this time.", reasons } };
  await page.route("**/answer*", (route) => route.fulfill({ status: 409, json: refusal }));
  const field = page.getByRole("textbox", { name: "Your answer" });
  await field.fill("Two");
  await field.press("Control+Enter");
  await page.getByRole("alert").getByText("Not this time.").waitFor();
  expect(await field.inputValue()).toBe("Two");
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("Two");
});

test("while the daemon is gone no task can be created, and what was written stays; a browser that is signed out is told how to come back", async () => {
  const { page, goTo } = await stage.browser();
  await goTo("/board");
  await page.getByRole("heading", { name: "Board" }).waitFor();
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What is to be done").fill("Written while it was gone");
  const choices = (label: string) => dialog.getByLabel(label).locator("option").allTextContents();
  await expect.poll(() => choices("Workflow")).toEqual(expect.arrayContaining(["classic", "minimal"]));
  await expect.poll(() => choices("Harness")).toContain("scripted");
  await stage.killDaemon();
  await page.getByText("What you see may be out of date").waitFor();
  expect(await dialog.getByRole("button", { name: "Create the task" }).isDisabled()).toBe(true);
  await stage.restart();
  await expect.poll(() => dialog.getByRole("button", { name: "Create the task" }).isEnabled()).toBe(true);
  await page.reload();
  await page.getByRole("heading", { name: "Board" }).waitFor();
  await page.keyboard.press("c");
  expect(await dialog.getByLabel("What is to be done").inputValue()).toBe("Written while it was gone");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Written while it was gone" }).waitFor();
  await stage.call(routes.endWebSessions);
  await page.getByText("its session is over").waitFor();
  await page.getByText("$ signalbox web").waitFor();
});

test("one browser signs all out: none of them can read anything after that, and this one has forgotten its key", async () => {
  const [one, other] = [await stage.browser(), await stage.browser()];
  await one.goTo("/settings?part=browsers");
  await one.page.getByRole("button", { name: "Sign all browsers out" }).click();
  await one.page.getByRole("dialog").getByRole("button", { name: "Sign all out" }).click();
  for (const { page } of [one, other]) await page.getByText("This browser is not signed in").waitFor();
  expect(await one.page.evaluate("localStorage.getItem('signalbox.key')")).toBeNull();
});
