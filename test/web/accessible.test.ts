import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskParts } from "../../src/web/search.ts";
import { places } from "../../src/web/shell/places.ts";
import { openWebStage, type Visitor, type WebStage } from "./stage.ts";

/** Agents by the branch of their task: one asks, the other hands over. */
const script = `roles:
  worker:
    - when: { prompt: "First plan", task: { branch: asks } }
      steps:
        - section: { heading: "## Questions", text: "Which **colour**?\\n\\n- \`blue\`\\n- [red](https://example.org)" }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan" }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: a table.\\nTOUCHING: menu.md" }
        - cli: [task, update, --status, working]
        - write: { file: recipe.md, text: "beans, ground\\n" }
        - write: { file: menu.md, text: "# Menu\\n\\n- espresso\\n" }
        - commit: Write the menu
        - section: { heading: "## Handoff", text: "DONE: menu.md, and a | table |." }
        - usage: { input: 14200, output: 1900, cached: 9800, cost: 0.04 }
        - cli: [task, update, --status, agent-review]
    - steps: [{ say: "At your service." }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - cli: [task, update, --status, reviewing]
`;

let stage: WebStage;
let visitor: Visitor;
let [asks, judged] = ["", ""];

beforeAll(async () => {
  stage = await openWebStage({ script });
  [asks, judged] = await Promise.all([
    stage.create("Choose a colour", { branch: "asks" }),
    stage.create("Write the menu", { branch: "menu" }),
  ]);
  visitor = await stage.browser();
  await visitor.page.addInitScript(axe.source);
  await stage.until(asks, ({ needsPerson }) => needsPerson);
  await stage.until(judged, ({ needsPerson, judged }) => needsPerson && judged !== null);
});

afterAll(async () => {
  expect(visitor.misdeeds).toEqual([]);
  await stage.close();
});

/** What axe has against the page as it is shown, in one of the colour schemes: the rule and the element. */
async function violations({ page }: Visitor, scheme: "light" | "dark"): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.evaluate(settled);
  // The structure is the same in both.
  const rules = scheme === "light" ? "{}" : '{ runOnly: ["color-contrast"] }';
  return page.evaluate(`axe.run(document, ${rules}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join("\\n"))))`);
}

/** Colours change with the next frame. */
const settled = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))`;

async function expectNone(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await page.getByRole("navigation").or(page.getByRole("heading")).first().waitFor();
  await expect.poll(() => page.getByText(/^Loading /).count()).toBe(0);
  expect(await violations(visitor, "light")).toEqual([]);
  expect(await violations(visitor, "dark")).toEqual([]);
}

describe("axe finds nothing, in light and in dark colours, in", () => {
  test.each(places.map(({ title, to }) => [title, to]))("the place %s", async (_, path) => {
    await visitor.goTo(path);
    await expectNone(visitor);
  });

  test("the inbox with a question, and with a verdict", async () => {
    for (const task of [asks, judged]) {
      await visitor.goTo(`/?task=${task}`);
      await visitor.page.getByRole("region", { name: "What it needs" }).waitFor();
      await expectNone(visitor);
    }
  });

  test.each(taskParts)("a task's %s", async (part) => {
    await visitor.goTo(`/tasks/${judged}?part=${part}`);
    await visitor.page.getByRole("heading", { name: "Write the menu" }).waitFor();
    await expectNone(visitor);
  });

  test("the palette, the keys, the form of a new task, and the question before a merge", async () => {
    const { page, goTo } = visitor;
    await goTo(`/?task=${judged}`);
    await page.getByRole("button", { name: "Merge m" }).waitFor();
    for (const key of ["Control+k", "?", "c", "m"]) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
      await expectNone(visitor);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  test("an address that leads nowhere, and a task that does not exist", async () => {
    for (const path of ["/nowhere", "/tasks/nobody"]) {
      await visitor.goTo(path);
      await expectNone(visitor);
    }
  });

  test("the page of a browser that is not signed in", async () => {
    const stranger = await stage.stranger();
    await stranger.page.addInitScript(axe.source);
    await stranger.goTo("/");
    await expectNone(stranger);
  });

  test("a phone", async () => {
    const phone = await stage.browser({ width: 390, height: 844 });
    await phone.page.addInitScript(axe.source);
    for (const path of ["/", `/?task=${asks}`, `/tasks/${judged}`]) {
      await phone.goTo(path);
      await expectNone(phone);
    }
  });
});

test("axe would find a text that cannot be read, and a button without a name", async () => {
  const { page, goTo } = visitor;
  await goTo("/");
  await page.getByRole("main").evaluate((element) => {
    (element as unknown as { innerHTML: string }).innerHTML =
      '<button></button><p style="color: #777; background: light-dark(#fff, #000)">Pale</p><p style="color: #000">Black</p>';
  });
  expect((await violations(visitor, "light")).join("\n")).toMatch(/button-name[\s\S]*color-contrast/);
  expect((await violations(visitor, "dark")).join("\n")).toContain("Black");
});
