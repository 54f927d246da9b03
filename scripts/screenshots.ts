// Takes the pictures of the page that the documents show: npm run screenshots. Needs Chromium, as tests of the page do.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import buildPrograms from "../test/build-programs.ts";
import { buildPage } from "./page.ts";

const maxBytes = 150_000;
const folder = join(import.meta.dirname, "..", "docs", "images");
const script = `roles:
  worker:
    - when: { prompt: "First plan", task: { branch: hours } }
      steps:
        - section:
            heading: "## Questions"
            text: |
              Are we open on **Sundays**, and from when to when?

              - as on Saturdays
              - only in the morning
        - usage: { input: 6400, output: 300, cached: 2000, cost: 0.01 }
        - cli: [task, update, --status, clarification]
    - when: { prompt: "First plan", task: { branch: beans } }
      steps: [{ think: { time: 10m, about: Writing beans.md } }]
    - when: { prompt: "First plan" }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: one file with what we serve.\\nTOUCHING: menu.md" }
        - cli: [task, update, --status, working]
        - write: { file: menu.md, text: "# Menu\\n\\n- espresso\\n- flat white\\n- filter coffee\\n" }
        - write: { file: recipe.md, text: "beans, freshly ground\\nwater, 93 degrees\\n" }
        - commit: Write the menu
        - section: { heading: "## Handoff", text: "DONE: \`menu.md\` lists what we serve." }
        - usage: { input: 14200, output: 1900, cached: 9800, cost: 0.04 }
        - cli: [task, update, --status, agent-review]
    - steps: [{ say: At your service. }]
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - usage: { input: 7900, output: 300, cached: 5000, cost: 0.02 }
        - cli: [task, update, --status, reviewing]
`;

const remove = buildPrograms();
await buildPage(join(process.env.SIGNALBOX_BUILT ?? "", "dist", "web"), "0.1.0");
// Imported after the build: these modules look for the built programs when they are loaded.
const { openWebStage } = await import("../test/web/stage.ts");
const stage = await openWebStage({ script });
try {
  const asked = await stage.create("Say when we are open", { branch: "hours" });
  const judged = await stage.create("Write the menu", { branch: "menu" });
  await stage.create("List the beans", { branch: "beans" });
  await stage.until(asked, ({ needsPerson }) => needsPerson);
  await stage.until(judged, ({ needsPerson, judged }) => needsPerson && judged !== null);
  const { page, goTo } = await stage.browser({ width: 1200, height: 720 });
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const take = async (name: string, path: string, shows: string) => {
    await goTo(path);
    // The text as Markdown: until what reads Markdown has come, the page shows it as it is written.
    await page.locator(".prose", { hasText: shows }).first().waitFor();
    await page.getByText(/^Loading /).waitFor({ state: "detached" });
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = statSync(file);
    if (size > maxBytes) throw new Error(`${file} has ${size} bytes, more than ${maxBytes}.`);
    process.stdout.write(`${file}: ${Math.ceil(size / 1_000)} kB\n`);
  };
  mkdirSync(folder, { recursive: true });
  await take("inbox", `/?task=${asked}`, "only in the morning");
  await take("task", `/tasks/${judged}`, "It is what was asked for.");
} finally {
  await stage.close();
  remove?.();
}
