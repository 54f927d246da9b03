import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { taskParts } from "../../src/web/search.ts";
import { places } from "../../src/web/shell/places.ts";
import { attacks } from "../web/attacks.ts";
import { openWebStage, type Visitor, type WebStage } from "../web/stage.ts";

const image = "<img src=x onerror=alert(1)>";
/** Sets the clipboard and the title, moves the cursor, and names a link, in the terminal that prints it. */
const escapes =
  "\u001b]52;c;ZXZpbA==\u0007\u001b]0;owned\u0007\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007\u001b[2J\u001b[31mred\u001b[0m";
/** A branch that is markup, as far as git allows it. */
const branch = "evil-<svg/onload=alert(1)>";
const longLine = 20 * 1024 * 1024;

/** An agent that writes what no reader should believe, and one whose difference is as hard to show as they get. */
const script = `roles:
  worker:
    - when: { prompt: "First plan", task: { summary: Hard to show } }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: badly.\\nTOUCHING: all" }
        - cli: [task, update, --status, working]
        - write: { file: "aa-<b>.html", text: ${JSON.stringify(`${attacks.join("\n")}\n`)} }
        - fill: { file: long.txt, bytes: 20 MB }
        - run: [node, -e, 'require("fs").writeFileSync("binary.bin", Buffer.from([0, 1, 2, 255, 0, 10, 0]))']
        - run: [node, -e, 'require("fs").writeFileSync("\\u202egnp.exe", "\\u001b]52;c;ZXZpbA==\\u0007 bidi \\u202e\\n")']
        - commit: ${JSON.stringify(image)}
        - section: { heading: "## Handoff", text: ${JSON.stringify(`DONE: ${image}`)} }
        - cli: [task, update, --status, agent-review]
    - when: { prompt: "First plan" }
      steps:
        - say: ${JSON.stringify(`${escapes} ${image}`)}
        - section: { heading: "## Questions", text: ${JSON.stringify(attacks.join("\n\n"))} }
        - cli: [task, update, --status, clarification]
    - steps: [{ say: "At your service." }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: ${JSON.stringify(`Verdict: PASS\n\n${image}`)} }
        - cli: [task, update, --status, reviewing]
`;

let stage: WebStage;
let visitor: Visitor;
let [evil, hard, found] = ["", "", ""];

beforeAll(async () => {
  stage = await openWebStage({ script });
  mkdirSync(stage.places.workflows, { recursive: true });
  writeFileSync(join(stage.places.workflows, "broken.yml"), `name: broken\nversion: 1\nstates: { "${image}": [\n`);
  [evil, hard] = await Promise.all([
    stage.create(`${image} safe\u202eexe.txt`, { branch }),
    stage.create("Hard to show", { branch: "hard" }),
  ]);
  visitor = await stage.browser();
  await stage.until(evil, ({ needsPerson }) => needsPerson);
  await stage.until(hard, ({ needsPerson, judged }) => needsPerson && judged !== null);
  const finding = { file: `${image}.md`, text: `${image}\n\n${attacks.join("\n\n")}` };
  const body = { project: "coffee", summary: "With findings", workflow: "pipeline", autostart: false };
  found = (await stage.call(routes.createTask, { body })).task.id;
  await stage.call(routes.addFinding, { params: { task: found }, body: finding });
});

afterAll(() => stage.close());

/** The page shows something, still answers keys, and has done nothing that it must not do. */
async function expectAlive({ page, misdeeds }: Visitor): Promise<void> {
  await expect.poll(() => page.getByText(/^Loading /).count()).toBe(0);
  const planted =
    "main :is(script, img, iframe, object, embed, style, [onerror], [onload], [onclick], [onfocus], a[href^='javascript' i])";
  expect(await page.locator(planted).count()).toBe(0);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  // Nothing turns the direction of the writing around it.
  expect(await page.evaluate("document.body.innerText")).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await page.title()).not.toContain("owned");
  expect(misdeeds).toEqual([]);
}

test.each([...places.map(({ to }) => to)])("the place %s shows what agents wrote as text", async (path) => {
  await visitor.goTo(path);
  await expectAlive(visitor);
});

test.each(taskParts)("a task's %s shows what agents wrote as text", async (part) => {
  for (const task of [evil, hard, found]) {
    await visitor.goTo(`/tasks/${task}?part=${part}`);
    await visitor.page.getByRole("heading", { level: 1 }).waitFor();
    await expectAlive(visitor);
  }
});

test("a title, a branch, a question, a finding and a screen are seen as they were written", async () => {
  const { page, goTo } = visitor;
  await goTo(`/tasks/${evil}`);
  await page.getByText(image).first().waitFor();
  await page
    .getByText(/exe\.txt/)
    .first()
    .waitFor();
  await page.getByText(branch).first().waitFor();
  await goTo(`/tasks/${evil}?part=task-file`);
  await page.getByText("<script>alert(1)</script>").first().waitFor();
  await goTo(`/tasks/${found}?part=findings`);
  await page.getByText(image).first().waitFor();
});

test("a file with a hidden direction, a binary file and a line of 20 MB are named, and the files beside them are shown", async () => {
  const { page, goTo } = visitor;
  const open = (name: string) => page.locator("summary").filter({ hasText: name }).click();
  await goTo(`/tasks/${hard}?part=changes`);
  await page.locator("summary").filter({ hasText: "gnp.exe" }).waitFor();
  await open("binary.bin");
  await page.getByText("A binary file.").first().waitFor();
  await open("long.txt");
  await page
    .getByText(/is not shown: it has [\d,]+ kB/)
    .first()
    .waitFor();
  const size = Number(await page.evaluate("document.documentElement.innerHTML.length"));
  expect(size).toBeLessThan(longLine / 4);
  await expectAlive(visitor);
});

test("a broken workflow is named where a task is to be created with it, and the form stays", async () => {
  const { page, goTo } = visitor;
  await goTo("/");
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What is to be done").fill("With a broken workflow");
  await dialog.getByLabel("Workflow").fill("broken");
  await dialog.getByRole("button", { name: "Create the task" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/broken/)
    .first()
    .waitFor();
  expect(await dialog.getByLabel("What is to be done").inputValue()).toBe("With a broken workflow");
  await page.keyboard.press("Escape");
  await expectAlive(visitor);
});

test("a branch that was lost is named on the task's page, which lives", async () => {
  const { page, goTo } = visitor;
  const { workspace } = await stage.task(hard);
  const folder = workspace.startsWith("/") ? workspace : join(stage.places.workspaces, workspace);
  stage.git(folder, "checkout", "--quiet", "--detach");
  stage.git(folder, "branch", "--delete", "--force", "hard");
  await goTo(`/tasks/${hard}?part=changes`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expectAlive(visitor);
});
