import { readFileSync } from "node:fs";
import type { Task } from "../../src/engine/task.ts";
import { startStage } from "../../test/api/stage.ts";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { openBrowser } from "../../test/web/browser.ts";

/** In the last one tasks wait for a person. */
const states = ["pending", "planning", "working", "agent-review", "reviewing"];

/** A daemon with many tasks, of which the newest are open and spread over the board; one browser shows its page. */
export async function openManyTasks(folder: string, version: string, { count, open }: { count: number; open: number }) {
  const stage = await startStage({ page: folder, version, checkAnswers: false });
  const { core } = stage;
  const workflow = builtIn("default");
  const source = readFileSync(new URL("../../workflows/default.yml", import.meta.url), "utf8");
  await core.workflows.keep(workflow, source);
  await core.store.addProject({
    ...{ name: "coffee", path: stage.home, defaultBranch: "main", poolSize: 2, workflow: "default", createdAt: 0 },
    ...{ harness: "claude", reviewHarness: "codex", branchPrefix: "signalbox", workspaces: "clone" },
  });
  const { task } = atWork();
  const now = Date.now();
  const make = async (i: number) => {
    const [id, isOpen] = [`t${i}`, i >= count - open];
    const own: Task = {
      ...{ ...task, id, project: "coffee", workflowHash: workflow.hash, workspace: "", branch: `signalbox/${id}` },
      ...{ summary: summaryOf(i, 0), labels: [i % 2 === 0 ? "hot" : "cold"], runs: {} },
      status: states[i % states.length] ?? "",
    };
    const stored = await core.store.createTask("coffee", (number) => ({
      ...{ task: { ...own, number }, document: { text: "", authors: {} }, events: [], effects: [] },
      at: now - (count - i) * 1_000,
    }));
    if (isOpen) return core.changed(stored, false);
    const done = { ...stored.task, status: "done", phase: "over" as const };
    await core.store.saveDecision({ ...stored, task: done, isOpen, events: [], effects: [], at: now });
  };
  for (let i = 0; i < count; i += 500) await Promise.all(Array.from({ length: 500 }, (_, k) => make(i + k)));

  const made = await stage.ask("/v1/web/links", { json: {} });
  const link: string = made.json.link;
  const browser = await openBrowser(new URL(link).origin, { width: 1600, height: 1000 });
  await browser.page.goto(link);
  await browser.page.getByRole("navigation", { name: "Places" }).filter({ visible: true }).waitFor();
  return {
    ...browser,
    stage,
    /** The newest tasks. */
    newest: (wanted: number) => Array.from({ length: wanted }, (_, k) => count - 1 - k),
    /** Changes a task as a person does: a decision is saved with its event. Resolves once it is durable. */
    async change(i: number, turn: number): Promise<void> {
      const actor = { role: "human" } as const;
      const outcome = await core.submit(`t${i}`, { kind: "edit", set: { summary: summaryOf(i, turn) }, actor });
      if (outcome.decision.kind === "rejected") throw new Error(JSON.stringify(outcome.decision.reasons));
    },
    async close() {
      await browser.close();
      await stage.close();
    },
  };
}

/** What the page shows of a task, which tells how often it was changed. */
export function summaryOf(i: number, turn: number): string {
  return `Brew ${i} cups of coffee, try ${turn}.`;
}
