import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { openWebStage, type Visitor, type WebStage } from "./stage.ts";

/** Agents by the branch of their task: one works for long and shows colours, one asks, one hands over. */
const script = `roles:
  worker:
    - when: { prompt: "First plan", task: { branch: busy } }
      steps:
        - say: "\\u001b[32mgreen leaves\\u001b[0m and \\u001b]52;c;ZXZpbA==\\u0007a title"
        - usage: { input: 1200, output: 300, cached: 100, cost: 0.25 }
        - think: { time: 10m, about: weighing the beans }
    - when: { prompt: "First plan", task: { branch: asks } }
      steps: &question
        - section: { heading: "## Questions", text: "Which colour?" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: asks-again } }
      steps: *question
    - steps:
        - section: { heading: "## Plan", text: "APPROACH: a note.\\nTOUCHING: {branch}.md" }
        - cli: [task, update, --status, working]
        - write: { file: "{branch}.md", text: "a note\\n" }
        - commit: Add a note
        - usage: { input: 5000, output: 900 }
        - section: { heading: "## Handoff", text: "DONE: a note." }
        - cli: [task, update, --status, agent-review]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - cli: [task, update, --status, reviewing]
`;

const broken = `name: crooked
version: 1
states: [this is not how states are written]
`;

let stage: WebStage;
let visitor: Visitor;
let busy: string;
let merged: string;

beforeAll(async () => {
  stage = await openWebStage({
    script,
    poolSize: 8,
    workflows: { crooked: broken },
    config: "notify: { webhook: 'https://hooks.example.org/T0/secret-part', desktop: false }\n",
  });
  busy = await stage.create("Weigh the <b>beans</b>", { branch: "busy" });
  merged = await stage.create("Write a note", { branch: "note" });
  visitor = await stage.browser();
  await stage.until(merged, ({ needsPerson, judged }) => needsPerson && judged !== null, 60_000);
  await stage.untilRun(({ task, activity }) => task === busy && activity === "busy");
});

afterAll(() => stage.close());

test("two keys lead to each screen, its title says which, and the palette has the command that does the same", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo("/");
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  for (const [key, title] of [
    ["a", "Agents"],
    ["l", "Time line"],
    ["u", "Usage"],
    ["w", "Workflows"],
    ["m", "Merge line"],
    ["s", "Settings"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Words of a task").fill("agent ps");
  await page.getByText("signalbox agent ps").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  expect(misdeeds).toEqual([]);
});

test("the terminals of running agents are seen live, as text with colours, and watching leaves their size alone", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo("/agents?q=busy");
  await page.getByText("No running agent is like that").waitFor();
  await goTo("/agents");
  const card = page.locator("li[data-run]").filter({ hasText: "coffee#" }).filter({ hasText: "weighing the beans" });
  await card.locator("[data-preview=screen]").waitFor();
  await card.getByText("<b>beans</b>").waitFor();
  const sizes = () => stage.tmux("list-windows", "-a", "-F", "#{window_name} #{window_width}x#{window_height}");
  const before = sizes();
  await page.setViewportSize({ width: 700, height: 500 });
  await card.locator("[data-preview=screen]").waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(sizes()).toBe(before);
  // The one that works comes first in this order; Enter goes to its task.
  await page.keyboard.press("j");
  await expect.poll(() => page.url()).toContain("run=");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toMatch(/\/tasks\/\w+\?.*part=agent/);
  expect(misdeeds).toEqual([]);
});

test("a preview that is not on the screen has no connection", async () => {
  const { page, goTo } = visitor;
  const open = new Set<string>();
  page.on("websocket", (socket) => {
    open.add(socket.url());
    socket.on("close", () => open.delete(socket.url()));
  });
  await goTo("/agents");
  await page.locator("[data-preview=screen]").first().waitFor();
  expect(open.size).toBeGreaterThan(0);
  await page.getByRole("main").evaluate((main: { firstElementChild: { style: { paddingTop: string } } }) => {
    main.firstElementChild.style.paddingTop = "4000px";
  });
  await expect.poll(() => open.size).toBe(0);
});

test("the time line tells working from waiting for me, and Enter goes to the task", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo(`/timeline?window=1h&task=${merged}`);
  const row = page.locator("li").filter({ has: page.locator(`[data-task="${merged}"]`) });
  await row.locator("[data-kind=working]").first().waitFor();
  await row.locator("[data-kind=me]").first().waitFor();
  const table = page.getByRole("region", { name: "Stretches of the chosen task" });
  await table.getByText("waits for you").first().waitFor();
  // What this agent's run has cost nobody knows.
  await table.getByText("unknown").first().waitFor();
  await page.getByRole("button", { name: "Unfold idle stretches" }).click();
  await expect.poll(() => page.url()).toContain("fold=off");
  // A key that chooses a row takes the focus from the button.
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("/tasks/");
  expect(misdeeds).toEqual([]);
});

test("usage is shown by two keys, and a cost that nobody reported is called unknown", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo("/usage?by=task&and=role");
  const line = (text: string) => page.getByRole("row").filter({ hasText: text });
  await line("coffee#2 worker").getByText("unknown").waitFor();
  await line("coffee#1 worker").getByText("$0.25").waitFor();
  await goTo("/usage");
  await page.locator(".uplot canvas").waitFor();
  await page.getByText(/have? no known cost/).waitFor();
  await page.getByLabel("Measure").selectOption("tokens");
  await expect.poll(() => page.url()).toContain("measure=tokens");
  expect(misdeeds).toEqual([]);
});

test("a workflow is a graph and a text; what is wrong with one stands at its line, and the page lives", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo("/workflows");
  await page.getByRole("button", { name: /^default/ }).click();
  const state = page.locator("g[data-state=working]");
  await state.click();
  await page.getByRole("complementary", { name: "The state working" }).getByText("## Handoff").first().waitFor();
  await page.getByText(/^proved: \d+ positions/).waitFor();
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await page.locator("[data-line]").filter({ hasText: "working:" }).first().waitFor();
  await goTo("/workflows?workflow=crooked&view=text");
  await page.locator('[data-line="3"]').getByText("error").first().waitFor();
  await page.getByText("does not load").waitFor();
  expect(misdeeds).toEqual([]);
});

test("settings show where a value comes from and no secret; the doctor's checks have their commands", async () => {
  const { page, goTo, misdeeds } = visitor;
  await goTo("/settings?show=set");
  const hook = page.locator("details").filter({ hasText: "notify.webhook" });
  await hook.getByText("your file", { exact: true }).waitFor();
  await hook.locator("summary").click();
  await hook.getByText("signalbox config get notify.webhook").waitFor();
  expect(await page.content()).not.toContain("secret-part");
  await page.getByRole("button", { name: "Doctor" }).click();
  await page.getByText("database", { exact: true }).waitFor();
  expect(misdeeds).toEqual([]);
});

test("a browser signs another one out, which then shows nothing but how to sign in", async () => {
  const other = await stage.browser();
  const { page, goTo } = visitor;
  await goTo("/settings?part=browsers");
  const rows = page.getByRole("main").getByRole("listitem");
  await expect.poll(() => rows.count()).toBe(2);
  await rows.filter({ hasNotText: "this browser" }).getByRole("button", { name: "Sign out" }).click();
  await other.page.getByText("This browser is not signed in").waitFor();
  await expect.poll(() => rows.count()).toBe(1);
});

test("the merge line shows what was merged; undoing says first what would change, and is asked for the revision that was seen", async () => {
  const { page, goTo, misdeeds } = visitor;
  const { revision } = await stage.task(merged);
  await stage.call(routes.mergeTask, { params: { task: merged }, body: {}, revision });
  await stage.until(merged, ({ outcome, phase }) => outcome === "done" && phase === "over");
  await goTo(`/merges?task=${merged}`);
  const side = page.getByRole("complementary", { name: "The chosen merge" });
  await side.getByRole("button", { name: "Undo the merge …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("note.md").waitFor();
  const sent = page.waitForRequest((request) => request.url().includes("/merge/undo?revision="));
  await dialog.getByRole("button", { name: "Undo the merge" }).click();
  await sent;
  await page.getByText("undone", { exact: true }).first().waitFor();
  expect(() => stage.git(stage.repository, "show", "main:note.md")).toThrow();
  await goTo("/board");
  await page.locator(`#card-${merged}`).getByText("undone", { exact: true }).waitFor();
  expect(misdeeds).toEqual([]);
});

test("a need is told once by the browser, however many tabs are open, and not where the task is on the screen", async () => {
  const { page } = visitor;
  const context = page.context();
  await context.grantPermissions(["notifications"], { origin: stage.address });
  await context.addInitScript(`
    window.told = [];
    const Real = window.Notification;
    window.Notification = class { constructor(title) { window.told.push(title); } close() {} };
    window.Notification.permission = "granted";
    window.Notification.requestPermission = async () => "granted";
  `);
  const second = await context.newPage();
  await page.goto(`${stage.address}/settings?part=notifications`);
  await page.getByRole("button", { name: "Notify me here" }).click();
  await page.getByText("It is on.").waitFor();
  await second.goto(`${stage.address}/board`);
  await second.getByRole("heading", { name: "Board" }).waitFor();
  // Other tasks may need somebody too: their needs are told as well.
  const told = async (summary: string) =>
    (await Promise.all([page, second].map((each) => each.evaluate("window.told"))))
      .flat()
      .filter((title) => String(title).endsWith(` ${summary}`));
  const asks = await stage.create("Paint it", { branch: "asks" });
  await stage.until(asks, ({ needsPerson }) => needsPerson);
  await expect.poll(() => told("Paint it")).toEqual([expect.stringMatching(/^coffee#\d+ Paint it$/)]);
  // While the task is on the screen of one tab, no tab tells of it.
  const seen = await stage.create("Paint again", { branch: "asks-again", autostart: false });
  await page.goto(`${stage.address}/tasks/${seen}`);
  await page.bringToFront();
  await page.getByRole("heading", { name: "Paint again" }).waitFor();
  const locks = "navigator.locks.query().then(({ held }) => held.map(({ name }) => name))";
  await expect.poll(() => page.evaluate(locks)).toContain(`signalbox.shown.${seen}`);
  await stage.call(routes.spawnTask, { params: { task: seen }, body: {} });
  await page.getByText("Which colour?").first().waitFor();
  await expect
    .poll(async () => ((await page.evaluate("localStorage['signalbox.told']")) as string).includes(seen))
    .toBe(true);
  expect(await told("Paint again")).toEqual([]);
  await page.goto(`${stage.address}/settings?part=notifications`);
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("It is off.").waitFor();
  expect(await second.evaluate("localStorage.getItem('signalbox.notify')")).toBeNull();
  await second.close();
});

test("a phone shows each screen without scrolling sideways", async () => {
  const { page, goTo, misdeeds } = await stage.browser({ width: 390, height: 844 });
  for (const path of ["/agents", "/timeline", "/usage", "/workflows?workflow=default", "/merges", "/settings"]) {
    await goTo(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor({ state: "detached" });
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(390);
    const sideways = "document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth";
    expect(await page.evaluate(sideways), path).toBeLessThanOrEqual(0);
  }
  await page.getByRole("button", { name: "More" }).tap();
  await page.getByRole("link", { name: "Time line" }).filter({ visible: true }).tap();
  await page.getByRole("heading", { level: 1, name: "Time line" }).waitFor();
  expect(misdeeds).toEqual([]);
});

test("of two hundred tasks the time line draws only the rows that can be seen", async () => {
  const { page, goTo } = visitor;
  const until = Date.now();
  const at = (minute: number) => new Date(until - minute * 60_000).toISOString();
  const kinds = ["queued", "working", "me", "idle"];
  const stretches = Array.from({ length: 40 }, (_, i) => ({
    ...{ kind: kinds[i % 4], state: "working", runs: [`worker#${i}`], dollars: 0.5, unknown: i % 2 },
    ...{ from: at(1_400 - 30 * i), until: at(1_370 - 30 * i) },
  }));
  const tasks = Array.from({ length: 200 }, (_, i) => ({
    ...{ id: `t${i}`, project: "coffee", number: i + 1, summary: `Task ${i}`, status: "working", createdAt: at(1_400) },
    ...{ needsPerson: false, outcome: null, stretches },
  }));
  await page.route("**/v1/timeline*", (route) =>
    route.fulfill({ json: { since: at(1_440), until: at(0), tasks, more: 3 } }),
  );
  await goTo("/timeline");
  await page.locator("[data-task=t0]").waitFor();
  await page.getByText("3 tasks that changed earlier are not shown.").waitFor();
  const visible = Math.ceil(800 / 50);
  expect(await page.locator("[data-task]").count()).toBeLessThanOrEqual(3 * visible);
  await page.mouse.move(700, 500);
  await page.mouse.wheel(0, 6_000);
  await page.locator("[data-task=t120]").waitFor();
  expect(await page.locator("[data-task]").count()).toBeLessThanOrEqual(3 * visible);
  await page.unroute("**/v1/timeline*");
});
