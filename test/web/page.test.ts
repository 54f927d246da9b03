import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { attacks } from "./attacks.ts";
import { openWebStage, type Visitor, type WebStage } from "./stage.ts";

/** Agents by the branch of their task: one asks, one hands over, one tries to break the page. */
const script = `roles:
  worker:
    - when: { task: { branch: asks }, prompt: The person has answered }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: as answered.\\nTOUCHING: asks.md" }
        - cli: [task, update, --status, working]
        - write: { file: asks.md, text: "as answered\\n" }
        - commit: Do as answered
        - section: { heading: "## Handoff", text: "DONE: as answered." }
        - cli: [task, update, --status, agent-review]
    - when: { prompt: "First plan", task: { branch: asks } }
      steps:
        - section: { heading: "## Questions", text: "Which **colour**?" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: asks-two } }
      steps:
        - section: { heading: "## Questions", text: "How many?" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: asks-three } }
      steps:
        - section: { heading: "## Questions", text: "From a phone?" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: asks-four } }
      steps:
        - section: { heading: "## Questions", text: "Where to?" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: evil } }
      steps:
        - section: { heading: "## Questions", text: ${JSON.stringify(attacks.join("\n\n"))} }
        - cli: [task, update, --status, clarification]
    - steps: [{ say: "At your service." }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - cli: [task, update, --status, reviewing]
`;

let stage: WebStage;
let visitor: Visitor;

beforeAll(async () => {
  stage = await openWebStage({ script, poolSize: 6, remote: true });
  visitor = await stage.browser();
});

afterAll(() => stage.close());

const waits = async (branch: string, summary = `About ${branch}`) => {
  const id = await stage.create(summary, { branch });
  await stage.until(id, ({ needsPerson }) => needsPerson);
  return id;
};

test("a link signs a browser in once: a second use says how to get a new one, and nothing is shown without a session", async () => {
  const { page, misdeeds } = await stage.browser();
  expect(page.url()).not.toContain("sign-in");
  const link = await stage.link();
  const [first, second] = [await stage.stranger(), await stage.stranger()];
  await first.page.goto(stage.address);
  await first.page.getByText("This browser is not signed in").waitFor();
  await first.page.getByText("$ signalbox web").waitFor();
  await first.page.goto(link);
  await first.page.reload();
  await first.page.getByText("Nothing waits for you").waitFor();
  await second.page.goto(link);
  await second.page.getByRole("alert").waitFor();
  await second.page.getByText("$ signalbox web").waitFor();
  expect(misdeeds).toEqual([]);
});

test("a question is answered and the work is merged with the keyboard alone", async () => {
  const id = await waits("asks");
  const { page, goTo, misdeeds } = visitor;
  await goTo("/");
  await page.getByText("About asks").waitFor();
  await page.keyboard.press("j");
  await page.locator("strong", { hasText: "colour" }).first().waitFor();
  expect(page.url()).toContain(`task=${id}`);
  await page.keyboard.press("a");
  await page.keyboard.type("Blue, as the 'sky'");
  const answers: unknown[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/answer?*", async (route) => {
    answers.push(route.request().postDataJSON());
    await held;
    await route.continue();
  });
  // A second press comes while the first answer is on its way.
  for (let i = 0; i < 2; i++) await page.keyboard.press("Control+Enter");
  release();
  // The command that does the same is shown, with what was written.
  await page.getByText(`signalbox task answer ${id} -m 'Blue, as the '\\''sky'\\'''`).waitFor();
  await stage.until(id, ({ needsPerson, judged }) => needsPerson && judged !== null);
  expect(answers).toEqual([{ text: "Blue, as the 'sky'", question: expect.stringMatching(/./) }]);
  // It comes back by itself, with the review's verdict.
  await page.getByText("About asks").waitFor();
  await page.keyboard.press("j");
  await page.getByText("It is what was asked for.").waitFor();
  await page.getByRole("button", { name: "Merge m" }).waitFor();
  await page.getByRole("region", { name: "What it changes" }).getByText("asks.md").waitFor();
  // An approval is about the commit that is shown.
  const { judged } = await stage.task(id);
  const reason = { code: "later", text: "Not this time.", fix: "" };
  const refusal = { error: { code: "refused", message: reason.text, reasons: [reason] } };
  await page.route("**/approve?*", (route) => route.fulfill({ status: 409, json: refusal }));
  const approval = page.waitForRequest("**/approve?*");
  // It would merge the work, so it asks first, as the merge itself does.
  writeFileSync(join(stage.repository, "own.md"), "mine\n");
  stage.git(stage.repository, "add", "own.md");
  stage.git(stage.repository, "commit", "-qm", "Mine");
  const pushes = "It would also push main to origin, with 1 other commit of yours that is not there yet.";
  const dialog = page.getByRole("dialog");
  await page.keyboard.press("A");
  await dialog.getByText("1 commit into main, 1 file").waitFor();
  await dialog.getByText(pushes).waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Do nothing");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect((await approval).postDataJSON()).toEqual({ commit: judged?.commit });
  await dialog.getByRole("alert").getByText("Not this time.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("m");
  await dialog.getByText("1 commit into main, 1 file").waitFor();
  await dialog.getByText(pushes).waitFor();
  // The harmless button has the focus: Enter alone merges nothing.
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Do nothing");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await stage.until(id, ({ outcome }) => outcome === "done");
  await page.getByText("Nothing waits for you").waitFor();
  expect(stage.git(stage.repository, "show", "main:asks.md")).toBe("as answered");
  await page.getByText("Pushed main to origin, with 1 other commit of yours that was not there yet.").waitFor();
  await page.getByText(`To undo it: signalbox task merge ${id} --undo`).waitFor();
  // The dry run of the dialog was not asked again, for a task that is over.
  const types = (await stage.events(id)).map(({ type }) => type);
  expect(types).toContain("merge.landed");
  expect(types).not.toContain("request.rejected");
  expect(misdeeds).toEqual([]);
});

test("what an agent writes runs nothing, loads nothing, and is seen", async () => {
  const id = await waits("evil", "<img src=x onerror=alert(1)> safe\u202eexe.txt");
  const { page, goTo, misdeeds } = visitor;
  for (const path of [
    `/?task=${id}`,
    `/tasks/${id}`,
    `/tasks/${id}?part=task-file`,
    `/tasks/${id}?part=agent`,
    `/tasks/${id}?part=history`,
    "/board",
  ]) {
    await goTo(path);
    await page.getByText("‹U+202E›").or(page.getByText("<img src=x onerror=alert(1)>")).first().waitFor();
  }
  await goTo(`/tasks/${id}?part=task-file`);
  await page.getByText("<script>alert(1)</script>").first().waitFor();
  const elements = await page
    .locator(".prose")
    .evaluateAll((all) =>
      all.flatMap((each) =>
        [...each.querySelectorAll("script, img, iframe, style, svg, object, [onerror], [onload], [onfocus]")].map(
          ({ outerHTML }) => outerHTML,
        ),
      ),
    );
  expect(elements).toEqual([]);
  expect(misdeeds).toEqual([]);
});

test("while the daemon is gone the page says so, sends nothing and keeps the draft; then it goes on where it was", async () => {
  const id = await waits("asks-two");
  const { page, goTo } = visitor;
  await goTo(`/?task=${id}`);
  await page.getByRole("textbox", { name: "Your answer" }).fill("Two of");
  await stage.killDaemon();
  const banner = page.getByText("What you see may be out of date");
  await banner.waitFor();
  expect(await page.getByRole("button", { name: /^Answer( Ctrl ↵)?$/ }).isDisabled()).toBe(true);
  await stage.restart();
  await banner.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("How many?").first().waitFor();
  expect(await page.getByRole("textbox", { name: "Your answer" }).inputValue()).toBe("Two of");
  // What happens after the restart is seen without a reload.
  const other = await stage.create("Created meanwhile", { branch: "later", autostart: false });
  await page.getByRole("link", { name: "Board" }).first().click();
  await page.locator(`#card-${other}`).waitFor();
  const later = await stage.create("Created later still", { branch: "later-still", autostart: false });
  await page.locator(`#card-${later}`).waitFor();
});

test("the palette finds a task by its words, and opens it", async () => {
  const { page, goTo } = visitor;
  await goTo("/board");
  await page.getByRole("heading", { name: "Board" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Words of a task").waitFor();
  await page.keyboard.type("later still");
  await page
    .getByRole("option")
    .filter({ hasText: "Created later still" })
    .and(page.locator("[aria-selected=true]"))
    .waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Created later still" }).waitFor();
});

test("of two people who answer one wins, and the other is told and keeps what they wrote", async () => {
  const [task] = (await stage.call(routes.listTasks, { query: { q: "asks-two" } })).tasks;
  const id = task?.id ?? "";
  const [one, other] = [visitor, await stage.browser()];
  for (const { page, goTo } of [one, other]) {
    await goTo(`/?task=${id}`);
    await page.getByRole("textbox", { name: "Your answer" }).fill(page === one.page ? "Two" : "Three");
  }
  await one.page.getByRole("button", { name: /^Answer( Ctrl ↵)?$/ }).click();
  await one.page.getByText(/signalbox task answer .* -m Two/).waitFor();
  await other.page.getByText("This task does not wait for you now").waitFor();
  await other.page.keyboard.press("Escape");
  const { text } = await stage.call(routes.getDocument, {
    params: { task: id },
  });
  expect(text).toContain("Two");
  expect(text).not.toContain("Three");
});

test("a phone shows the inbox, and answers with buttons that a thumb can hit", async () => {
  const id = await waits("asks-three");
  const { page, goTo, misdeeds } = await stage.browser({ width: 390, height: 844 });
  await goTo("/");
  await page.getByText("About asks-three").tap();
  await page.getByRole("textbox", { name: "Your answer" }).fill("Yes");
  const button = page.getByRole("button", { name: /^Answer( Ctrl ↵)?$/ });
  expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await button.tap();
  await stage.until(id, ({ needsPerson }) => !needsPerson);
  const width = await page.evaluate("document.documentElement.scrollWidth");
  expect(width).toBeLessThanOrEqual(390);
  expect(misdeeds).toEqual([]);
});

test("a task that was looked at counts as seen, its work does not count as reviewed, and put off it leaves the inbox", async () => {
  const id = await waits("asks-four", "Carry me");
  const { page, goTo } = visitor;
  const looked = page.waitForRequest("**/seen");
  await goTo(`/?task=${id}`);
  expect((await looked).postDataJSON()).toEqual({ revision: expect.any(Number) });
  await expect.poll(async () => (await stage.task(id)).unread).toBe(false);
  const list = page.getByRole("region", { name: "Waiting for you" });
  await list.getByText("Carry me").waitFor();
  // Where an answer also chooses a state, it waits for the choice, and is sent with it. What was written before the question
  // has loaded stays.
  const written = Promise.withResolvers<void>();
  await page.route("**/v1/questions?*", async (route) => {
    await written.promise;
    const response = await route.fetch();
    const { questions, ...rest } = await response.json();
    const choices = ["planning", "working", "stuck"];
    await route.fulfill({
      response,
      json: { ...rest, questions: questions.map((each: object) => ({ ...each, choices })) },
    });
  });
  await page.route("**/answer?*", (route) => route.abort());
  await page.reload();
  await page.getByRole("textbox", { name: "Your answer" }).fill("Go on");
  written.resolve();
  const answer = page.getByRole("button", { name: /^Answer( Ctrl ↵)?$/ });
  await page.getByRole("radio", { name: "planning" }).waitFor();
  expect(await answer.isDisabled()).toBe(true);
  await page.getByRole("radio", { name: "working" }).check();
  const [answered] = await Promise.all([page.waitForRequest("**/answer?*"), answer.click()]);
  const question = expect.stringMatching(/./);
  expect(answered.postDataJSON()).toEqual({ text: "Go on", question, to: "working" });
  await page.getByRole("textbox", { name: "Your answer" }).fill("");
  await page.unrouteAll();
  await page.reload();
  await page.getByRole("button", { name: "Later" }).click();
  await page.getByRole("button", { name: "For an hour" }).click();
  await list.getByText("Carry me").waitFor({ state: "detached" });
  const { snoozedUntil } = await stage.task(id);
  const minutes = (Date.parse(snoozedUntil ?? "") - Date.now()) / 60_000;
  expect(Math.round(minutes)).toBe(60);
  await goTo("/");
  await page.getByRole("link", { name: "1 snoozed" }).click();
  await page.getByText("Carry me").waitFor();
});

test("a card is carried to a column where a way leads, and elsewhere it stays and says why", async () => {
  const [{ id } = { id: "" }] = (await stage.call(routes.listTasks, { query: { q: "asks-four" } })).tasks;
  const { page, goTo } = visitor;
  await goTo(`/board?task=${id}`);
  const card = page.locator(`#card-${id}`);
  await card.waitFor();
  await card.focus();
  await page.keyboard.press(" ");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByText(/stays in clarification\. No way leads from clarification to/).waitFor();
  await card.focus();
  await page.keyboard.press(" ");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await stage.until(id, ({ status }) => status !== "clarification");
  // With the mouse, to an end: it asks first, and does nothing until that is confirmed.
  const column = page.getByRole("region", { name: /^cancelled, / });
  // A card that moves to its new column while it is held would slip from the mouse.
  await page
    .getByRole("region", { name: /^planning, / })
    .locator(card)
    .waitFor();
  const drag = async () => {
    await card.hover();
    await page.mouse.down();
    // A browser says that a card is over a column with the second move only.
    for (let i = 0; i < 2; i++) await column.hover();
    await page.mouse.up();
  };
  const dialog = page.getByRole("dialog", { name: "Cancel the task" });
  await drag();
  await dialog.getByRole("button", { name: "Do nothing" }).click();
  expect((await stage.task(id)).outcome).toBeNull();
  await drag();
  await dialog.getByRole("button", { name: "Cancel the task" }).click();
  await stage.until(id, ({ outcome }) => outcome === "cancelled");
});
