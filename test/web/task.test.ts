import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { openWebStage, type Visitor, type WebStage } from "./stage.ts";

const long = Array.from({ length: 2_600 }, (_, i) => `bean ${i}`).join("\\n");
const old = Array.from({ length: 80 }, (_, i) => `old line ${i}.`).join("\\n");
/** The worker plans, writes two files, and hands over; the reviewer passes it. Its terminal gets sequences that must do nothing. */
const script = `roles:
  worker:
    - when: { prompt: "First plan" }
      steps:
        - say: "${old}"
        - say: "\\e[31mred\\e[0m \\e]52;c;ZXZpbA==\\a\\e]0;evil title\\a<b>bold</b> safe\u202eexe"
        - section: { heading: "## Plan", text: "APPROACH: as asked.\\nTOUCHING: grind.ts" }
        - cli: [task, update, --status, working]
        - write: { file: grind.ts, text: "one\\ntwo\\nthree\\n" }
        - write: { file: long.txt, text: "${long}\\n" }
        - commit: Grind
        - section: { heading: "## Handoff", text: "DONE: the grinder." }
        - cli: [task, update, --status, agent-review]
    - steps: [{ say: "At your service." }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - cli: [task, update, --status, reviewing]
`;

/** A hook that can only fail, an end, and a state with a long name. */
const publish = `name: publish
version: 1
states:
  waiting_for_somebody_who_says_that_it_can_be_shown_to_everybody: { waits_for: human, next: out }
  out: { waits_for: human, next: over }
  over: { terminal: true, outcome: done }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: waiting_for_somebody_who_says_that_it_can_be_shown_to_everybody, to: out, by: human, hooks: [{ action: run_command, command: [test, -e, /nowhere] }] }
  - { from: out, to: over, by: human }
  - { from: any, to: dropped, by: human }
`;

/** Two states that wait for a person, one after the other. */
const twice = `name: twice
version: 1
states:
  once: { waits_for: human, ask: Look at it, next: again }
  again: { waits_for: human, ask: Look at it again, next: over }
  over: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
`;

let stage: WebStage;
let visitor: Visitor;
/** A task that was reviewed, and waits for a person. */
let reviewed: string;

beforeAll(async () => {
  stage = await openWebStage({ script, poolSize: 6, workflows: { publish, twice } });
  reviewed = await stage.create("Grind the beans", { branch: "grind" });
  [visitor] = await Promise.all([stage.browser(), stage.until(reviewed, ({ status }) => status === "reviewing")]);
});

afterAll(() => stage.close());

const paneSize = () => stage.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}");
const open = async ({ goTo }: Visitor, part: string, id = reviewed) => goTo(`/tasks/${id}?part=${part}`);

test("a terminal is watched by two browsers and typed into by the one that takes control; nobody's window changes its size", async () => {
  const [one, other] = [visitor, await stage.browser({ width: 900, height: 500 })];
  const watched = one.page.waitForEvent("websocket", (socket) => socket.url().includes("/terminal"));
  await Promise.all([open(one, "agent"), open(other, "agent")]);
  const rows = (at: Visitor) => at.page.locator(".xterm-rows");
  await rows(one).getByText("scripted agent · ready").waitFor();
  expect(new URL((await watched).url()).searchParams.get("run")).toBe("worker#1");
  const size = paneSize();
  // What the agent printed is text: no title, no element, no clipboard, and hidden characters are seen.
  await rows(one).getByText("<b>bold</b> safe‹U+202E›exe").waitFor();
  expect(await one.page.title()).not.toContain("evil");
  // What has left the screen comes when it is asked for.
  expect(await one.page.getByText("old line 3.").count()).toBe(0);
  await one.page.getByRole("button", { name: /^Show earlier lines/ }).click();
  await one.page.getByText("old line 3.").waitFor();
  // Without control a key is the page's own.
  await one.page.keyboard.type("?");
  await one.page.getByRole("dialog", { name: "Keys" }).waitFor();
  await one.page.keyboard.press("Escape");
  await one.page.getByRole("button", { name: "Take control" }).click();
  await one.page.getByText("You have control").waitFor();
  await other.page.getByText(/the page in Chrom\w+ on Linux has control/).waitFor();
  await one.page.keyboard.type("pour slowly");
  await rows(other).getByText("> pour slowly").waitFor();
  await one.page.keyboard.press("Shift+Escape");
  await one.page.getByRole("button", { name: "Take control" }).waitFor();
  await other.page.getByRole("button", { name: "Take control" }).click();
  await one.page.getByRole("button", { name: "Take it over" }).click();
  await one.page.getByText("You have control").waitFor();
  await other.page.getByRole("button", { name: "Take it over" }).waitFor();
  expect(paneSize()).toBe(size);
  expect([...one.misdeeds, ...other.misdeeds]).toEqual([]);
  // The daemon is another; the terminal and what was typed are the same.
  await stage.killDaemon();
  await one.page.getByText("The connection to the terminal is lost").waitFor();
  await stage.restart();
  await one.page.getByText("The connection to the terminal is lost").waitFor({ state: "detached" });
  await one.page.getByRole("button", { name: "Take control" }).click();
  await one.page.getByText("You have control").waitFor();
  await one.page.keyboard.type("!");
  await rows(one).getByText("> pour slowly!").waitFor();
  await one.page.keyboard.press("Shift+Escape");
});

test("of what a terminal says only colours count, even if the daemon lets more through", async () => {
  const { page, misdeeds } = visitor;
  const esc = "\u001b";
  const lines = [
    `${esc}[32mgreen${esc}[0m ${esc}]52;c;ZXZpbA==\u0007${esc}]0;evil title\u0007`,
    `${esc}]8;;https://evil.example\u0007link${esc}]8;;\u0007 <img src=x onerror=alert(1)> safe\u202eexe`,
    `${esc}[2J${esc}[1;1Hmoved`,
  ];
  await page.routeWebSocket(/\/terminal/, (socket) => {
    const run = { type: "run", run: "worker#1", role: "worker", harness: "scripted", source: "screen" };
    socket.send(JSON.stringify(run));
    socket.send(JSON.stringify({ type: "screen", columns: 160, lines, cursor: { x: 0, y: 0 }, title: "t", above: 0 }));
  });
  await open(visitor, "agent");
  const rows = page.locator(".xterm-rows > div");
  await rows.nth(2).getByText("␛[2J␛[1;1Hmoved").waitFor();
  expect(await rows.nth(0).textContent()).toMatch(/^green ␛\]52;c;ZXZpbA==␇␛\]0;evil title␇/);
  expect(await rows.nth(1).textContent()).toContain("␇link␛");
  expect(await rows.nth(1).textContent()).toContain("<img src=x onerror=alert(1)> safe‹U+202E›exe");
  const colour = "getComputedStyle(document.querySelector('.xterm-rows span')).color";
  expect(await page.evaluate(colour)).not.toBe(await page.evaluate("getComputedStyle(document.body).color"));
  await rows.nth(1).getByText("link").first().click({ force: true });
  await page.getByRole("button", { name: "As text" }).click();
  await page.locator("pre", { hasText: "<img src=x onerror=alert(1)> safe‹U+202E›exe" }).waitFor();
  expect(await page.title()).not.toContain("evil");
  expect(misdeeds).toEqual([]);
  await page.unrouteAll();
});

test("a phone shows a terminal as text, and types with a field and keys of its own", async () => {
  const phone = await stage.browser({ width: 390, height: 844 });
  await open(phone, "agent");
  const { page } = phone;
  await page.getByText("scripted agent · ready").waitFor();
  expect(await page.locator(".xterm").count()).toBe(0);
  await page.getByRole("button", { name: "Take control" }).tap();
  await page.getByRole("button", { name: "Ctrl U" }).tap();
  await page.getByRole("textbox", { name: "Type into the terminal" }).fill("from a phone");
  await page.getByRole("button", { name: "Send" }).tap();
  await page.getByText("> from a phone").first().waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  // The drawing comes when it is asked for.
  await open(phone, "overview");
  const graph = page.getByRole("img", { name: /Graph of the workflow default/ });
  await page.getByText("Way through the workflow").waitFor();
  expect(await graph.count()).toBe(0);
  await page.getByText("Way through the workflow").tap();
  await graph.waitFor();
  // Only the drawing's own box may scroll sideways, however long the names of states are.
  const body = { project: "coffee", summary: "Publish it later", workflow: "publish", branch: "later" };
  const { id } = (await stage.call(routes.createTask, { body })).task;
  await open(phone, "overview", id);
  await page.getByText("Way through the workflow").tap();
  await page.getByRole("img", { name: /Graph of the workflow publish/ }).waitFor();
  await page.getByText("In words").tap();
  await page.getByRole("region", { name: "Where it can go" }).waitFor();
  const wide = `[...document.querySelectorAll("main, main *")].filter((each) => each.scrollWidth > each.clientWidth
    && ["auto", "scroll"].includes(getComputedStyle(each).overflowX)).map((each) => each.getAttribute("aria-label"))`;
  const allowed = ["Graph", "Parts of the task"];
  expect(((await page.evaluate(wide)) as string[]).filter((name) => !allowed.includes(name))).toEqual([]);
  expect(phone.misdeeds).toEqual([]);
});

test("the graph shows the path, the place and why a way is closed, as a drawing and in words", async () => {
  const { page } = visitor;
  await open(visitor, "overview");
  const graph = page.getByRole("img", { name: /Graph of the workflow default/ });
  await graph.waitFor();
  const name = (await graph.getAttribute("aria-label")) ?? "";
  expect(name).toContain("The task is in reviewing. It came through pending, planning, working, agent-review.");
  expect(name).toContain("done by human, closed: The work is not merged yet.");
  const states = await graph.locator("rect + text, rect + rect + text").allTextContents();
  expect(states).toEqual(expect.arrayContaining(["pending", "reviewing", "done"]));
  await page.getByText("In words").click();
  const path = page.getByRole("region", { name: "The path so far" });
  expect(await path.getByRole("listitem").count()).toBe(5);
  await page.getByRole("region", { name: "Ways out" }).getByText("The work is not merged yet.").waitFor();
});

test("what is written while a review is being sent stays when it was sent", async () => {
  const { page } = visitor;
  await visitor.goTo(`/tasks/${reviewed}?part=changes&file=grind.ts`);
  await page.getByRole("region", { name: /^Changes of grind\.ts/ }).focus();
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.keyboard.type("Why two?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment, not sent yet").waitFor();
  await page.getByRole("combobox", { name: "How it is sent" }).selectOption({ label: "Only note it in the history" });
  const remark = page.getByRole("textbox", { name: "What you say about the whole" });
  await page.route("**/comment*", async (route) => {
    await remark.fill("It tastes well.");
    await route.continue();
  });
  await page.getByRole("button", { name: "Send 1 together" }).click();
  await page.getByText("0 comments, not sent yet").waitFor();
  expect(await remark.inputValue()).toBe("It tastes well.");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Discard" }).click();
  await remark.waitFor({ state: "detached" });
});

test("lines are commented with the keyboard, kept through a reload and a lost daemon, and sent as one", async () => {
  const { page } = visitor;
  await visitor.goTo(`/tasks/${reviewed}?part=changes&file=grind.ts`);
  const lines = page.getByRole("region", { name: /^Changes of grind\.ts/ });
  await lines.focus();
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.keyboard.type("Why two?");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("<b>Three</b> is enough");
  // A comment on the same line of another file is one more, until it is removed.
  await page.locator("summary", { hasText: "long.txt" }).click();
  await page.getByRole("region", { name: /^Changes of long\.txt/ }).focus();
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.keyboard.type("And beans?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("3 comments, not sent yet").waitFor();
  const other = page.getByRole("region", { name: "Comment on new line 2" }).filter({ hasText: "And beans?" });
  await other.getByRole("button", { name: "Remove the comment" }).click();
  await other.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("2 comments, not sent yet").waitFor();
  await page.getByText("<b>Three</b> is enough").first().waitFor();
  await stage.killDaemon();
  const send = page.getByRole("button", { name: "Send 2 together" });
  await expect.poll(() => send.isDisabled()).toBe(true);
  await stage.restart();
  await expect.poll(() => send.isDisabled()).toBe(false);

  // Somebody else was faster: nothing is sent, and what they did is told.
  await page.getByRole("combobox", { name: "How it is sent" }).selectOption({ label: "Ask for changes, in working" });
  await page.route(
    "**/request-changes*",
    async (route) => {
      await stage.call(routes.editTask, { params: { task: reviewed }, body: { labels: ["urgent"] } });
      await route.continue();
    },
    { times: 1 },
  );
  await send.click();
  const refusal = page.getByRole("region", { name: "Your review" }).getByRole("alert");
  await refusal.getByText("It is still in reviewing.").waitFor();
  await refusal.getByText("task.edited").waitFor();
  await page.getByText("2 comments, not sent yet").waitFor();

  // The page has read the task again, with what the other one has added.
  await page.getByRole("banner").or(page.locator("header")).getByText("urgent", { exact: true }).first().waitFor();
  const marked = page.waitForRequest("**/seen");
  await send.click();
  await page.getByText("2 comments, not sent yet").waitFor({ state: "detached" });
  const { commit } = (await marked).postDataJSON();
  expect(commit).toBe((await stage.task(reviewed)).judged?.commit);
  const { text } = await stage.call(routes.getDocument, { params: { task: reviewed } });
  expect(text).toMatch(
    /grind\.ts:2 at \w{10}\n> two\nWhy two\?\n\ngrind\.ts:3 at \w{10}\n> three\n<b>Three<\/b> is enough/,
  );
  const moves = (await stage.events(reviewed)).filter(({ data }) => data.from === "reviewing" && data.to === "working");
  expect(moves).toHaveLength(1);
  await page.reload();
  await page.getByText("grind.ts").first().waitFor();
  expect(await page.getByRole("region", { name: "Your review" }).count()).toBe(0);
  // The next review begins where this one ended.
  await page.getByRole("checkbox", { name: "Only since my last review" }).check();
  await page.getByText("Nothing has changed since you looked.").waitFor();
  const again = page.waitForRequest("**/seen");
  await page.getByRole("button", { name: "Mark as reviewed" }).click();
  expect((await again).postDataJSON()).toEqual({ commit });
  await page.getByText(`You have seen the work up to ${commit.slice(0, 10)}.`).waitFor();
});

test("the chosen run is the one whose output is shown, whichever run is at work", async () => {
  const { page } = visitor;
  const read = page.waitForRequest("**/screen?*");
  await visitor.goTo(`/tasks/${reviewed}?part=agent&run=${encodeURIComponent("reviewer#2")}`);
  expect(new URL((await read).url()).searchParams.get("run")).toBe("reviewer#2");
  const links = page.getByRole("list", { name: "Runs" }).getByRole("link");
  expect(await links.filter({ hasText: "worker#1" }).getAttribute("aria-current")).toBe("false");
});

test("findings are approved and dismissed as the button says, only those that were chosen, for the revision that is shown", async () => {
  const { page } = visitor;
  const finding = (id: string) => ({
    ...{ id, state: "open", severity: "high", file: "grind.ts", line: 2, title: `Defect ${id}`, evidence: "" },
    ...{ commit: "", round: 1, by: "reviewer", reason: "", note: "" },
  });
  const view = { task: reviewed, round: 1, quiet: 0, said: "", findings: ["F1", "F2", "F3"].map(finding), parts: [] };
  const decided: unknown[] = [];
  await page.route("**/findings*", (route) => {
    const request = route.request();
    const revision = new URL(request.url()).searchParams.get("revision");
    if (request.method() === "POST") decided.push({ ...request.postDataJSON(), revision });
    return route.fulfill({ json: view });
  });
  await open(visitor, "findings");
  await page.getByRole("checkbox", { name: "Choose F2" }).check();
  await page.getByRole("button", { name: "Dismiss 1" }).click();
  await page.getByText(`signalbox task findings ${reviewed} --dismiss F2`).waitFor();
  for (const id of ["F1", "F3"]) await page.getByRole("checkbox", { name: `Choose ${id}` }).check();
  await page.getByRole("button", { name: "Approve 2" }).click();
  await page.getByText(`signalbox task findings ${reviewed} --approve F1,F3`).waitFor();
  const revision = String((await stage.call(routes.getTask, { params: { task: reviewed } })).task.revision);
  expect(decided).toEqual([
    { findings: ["F2"], state: "dismissed", revision },
    { findings: ["F1", "F3"], state: "approved", revision },
  ]);
  await page.unrouteAll();
});

test("a long file is read two thousand lines at a time", async () => {
  const { page } = visitor;
  await visitor.goTo(`/tasks/${reviewed}?part=changes&file=long.txt`);
  await page.getByText("bean 0", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show more lines" }).click();
  await page.getByText("bean 2599", { exact: true }).waitFor();
  await expect.poll(() => page.locator("tr.diff-line").count()).toBe(2_600);
});

test("checks say for which commit they are, and a failed operation shows its reason and the command", async () => {
  const { page } = visitor;
  await open(visitor, "checks");
  const { judged } = (await stage.call(routes.getTask, { params: { task: reviewed } })).task;
  await page.getByText("The reviewer has judged it.").waitFor();
  await page
    .getByRole("listitem")
    .filter({ hasText: "Verdict" })
    .getByText(judged?.commit.slice(0, 10) ?? "no commit")
    .waitFor();
  const body = { project: "coffee", summary: "Publish it", workflow: "publish", branch: "publish" };
  const { id } = (await stage.call(routes.createTask, { body })).task;
  await open(visitor, "checks", id);
  await page.getByText("Nobody has judged the work yet.").waitFor();
  await page.keyboard.press("1");
  await page.getByRole("dialog").getByRole("button", { name: "Move the task to out" }).click();
  await page.getByText("run_command", { exact: true }).waitFor();
  await page.getByText("test -e /nowhere ended with 1.", { exact: true }).waitFor();
  await page.getByText(`$ signalbox task retry ${id}`).waitFor();
});

test("the history is read backwards, a page at a time, and grows by itself", async () => {
  const { page } = visitor;
  const params = { task: reviewed };
  const add = (text: string) => stage.call(routes.commentTask, { params, body: { text } });
  for (let i = 0; i < 210; i++) await add(`Comment ${i}.`);
  await open(visitor, "history");
  await page.getByText("Comment 209.").waitFor();
  const count = page.getByText(/^\d+ events$/);
  expect(await count.textContent()).toBe("200 events");
  await page.getByRole("button", { name: "Show earlier events" }).click();
  await page.getByText("from the beginning").waitFor();
  const all = (await stage.events(reviewed)).length;
  expect(await count.textContent()).toBe(`${all} events`);
  await add("One more.");
  await page.getByText("One more.").waitFor();
  expect(await count.textContent()).toBe(`${all + 1} events`);
  await page.getByRole("combobox", { name: "Show" }).selectOption("agent");
  await page.getByText("agent.started").first().waitFor();
  expect(await page.getByText("One more.").count()).toBe(0);
});

test("no key acts on a task that has moved on until the page knows what can be done with it now", async () => {
  const body = { project: "coffee", summary: "Show it", workflow: "twice" };
  const { id: task } = (await stage.call(routes.createTask, { body })).task;
  await stage.until(task, ({ needsPerson }) => needsPerson);
  const { page, goTo } = await stage.browser();
  await goTo(`/?task=${task}`);
  const button = page.locator("footer").getByRole("button", { name: /^Continue/ });
  await expect.poll(() => button.isEnabled()).toBe(true);
  const { promise: known, resolve: tell } = Promise.withResolvers<void>();
  await page.route(`**/v1/tasks/${task}/actions*`, async (route) => {
    await known;
    await route.continue();
  });
  await stage.call(routes.continueTask, { params: { task }, body: {} });
  await expect.poll(() => button.isDisabled()).toBe(true);
  await page.keyboard.press("x");
  await page.getByText("The task has changed. What you can do is being read: try again.").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  tell();
  await expect.poll(() => button.isEnabled()).toBe(true);
  await page.keyboard.press("x");
  await page.getByRole("dialog").getByRole("button", { name: "Do nothing" }).click();
});

test("each action has its key; one that is not allowed says why, by key and by mouse", async () => {
  const { page } = visitor;
  await open(visitor, "checks");
  await page.getByText("The reviewer has judged it.").waitFor();
  const { actions } = await stage.call(routes.listActions, { params: { task: reviewed } });
  const closed = actions.filter(({ allowed, key }) => !allowed && key !== "");
  expect(closed.length).toBeGreaterThan(3);
  const toast = page.locator("output");
  for (const { key, why } of closed) {
    await page.keyboard.press(key);
    await toast
      .getByText(why.split("\n")[0] ?? "")
      .first()
      .waitFor();
  }
  await page.getByRole("button", { name: "More …" }).click();
  for (const { label } of actions) await page.locator("[popover] button", { hasText: label }).first().waitFor();
  const [first] = closed;
  await page
    .locator("[popover] button[aria-disabled=true]", { hasText: first?.label ?? "" })
    .first()
    // The browser lets a person press it, to be told why.
    .click({ force: true });
  await toast
    .getByText(first?.why.split("\n")[0] ?? "")
    .first()
    .waitFor();
  const parts = { d: "changes", e: "agent", h: "history", i: "overview" };
  for (const [key, part] of Object.entries(parts)) {
    await page.keyboard.press(key);
    await expect.poll(() => page.url()).toContain(`part=${part}`);
  }
});
