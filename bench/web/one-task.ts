import type { Page } from "playwright-core";
import { routes } from "../../src/api/routes.ts";
import type { Visitor, WebStage } from "../../test/web/stage.ts";

export const files = 13;
/** A file with so many changed lines opens by itself. */
export const linesOfFile = 385;
const folder = Array.from({ length: files }, (_, i) => ({
  file: `menu-${String(i).padStart(2, "0")}.md`,
  text: Array.from(
    { length: linesOfFile },
    (_, line) => `- cup ${line} of menu ${i}, with a word about its taste\n`,
  ).join(""),
}));

/** An agent that writes a difference of five thousand lines, and then waits for its person. */
export const script = `roles:
  worker:
    - when: { prompt: "First plan" }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: many cups.\\nTOUCHING: menus" }
        - cli: [task, update, --status, working]
${folder.map(({ file, text }) => `        - write: { file: ${file}, text: ${JSON.stringify(text)} }`).join("\n")}
        - commit: Write the menus
        - section: { heading: "## Handoff", text: "DONE: the menus." }
        - cli: [task, update, --status, agent-review]
    - steps: [{ say: "At your service." }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - cli: [task, update, --status, reviewing]
`;

/** Milliseconds from a click on the changes until the lines of the first file are painted, and how many lines there are. */
export async function openChanges(
  { page, goTo }: Visitor,
  task: string,
): Promise<{ readonly took: number; readonly lines: number }> {
  // The task's page lists its files, which a person reads first.
  const listed = page.waitForResponse(/\/diff\?/);
  await goTo(`/tasks/${task}`);
  await listed;
  const tab = page.getByRole("link", { name: /^Changes/ }).first();
  await tab.waitFor();
  await page.evaluate(painted);
  await tab.evaluate((element) => (element as unknown as { click(): void }).click());
  const took = (await page.evaluate("benchPainted")) as number;
  return { took, lines: await page.locator("td.diff-code").count() };
}

const painted = `(() => {
  const begun = performance.now();
  globalThis.benchPainted = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector("td.diff-code") === null) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
  });
  return undefined;
})()`;

/** Comments on a task while its daemon is killed and started again; returns how many. */
export async function commentAcrossRestart(stage: WebStage, task: string): Promise<number> {
  let count = 0;
  const comment = async () => {
    for (let i = 0; i < 10; i++)
      await stage.call(routes.commentTask, { params: { task }, body: { text: `note ${count++}.` } });
  };
  await comment();
  for (let restart = 0; restart < 3; restart++) {
    await stage.killDaemon();
    await stage.restart();
    await comment();
  }
  return count;
}

/** The notes that the page's history shows, each as often as it does. */
export async function shownNotes(page: Page): Promise<readonly number[]> {
  const text = (await page.getByRole("main").textContent()) ?? "";
  return [...text.matchAll(/note (\d+)\./g)].map(([, number]) => Number(number));
}
