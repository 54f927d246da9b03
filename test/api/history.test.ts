import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventView } from "../../src/api/tasks.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let id = "";

beforeAll(async () => {
  stage = await startStage();
  for (const name of ["coffee", "tea"])
    await stage.ask("/v1/projects", { json: { name, path: newRepository(stage.home, name), poolSize: 9 } });
  for (const project of ["coffee", "tea"]) {
    const json = { project, workflow: "brew", summary: "Brew", branch: project };
    ({ id } = (await stage.ask("/v1/tasks", { json })).json.task);
    await stage.settled(id);
    await stage.ask(`/v1/tasks/${id}/continue`, { json: {} });
    for (const text of ["Hot", "Hotter", "Hottest"]) await stage.ask(`/v1/tasks/${id}/comments`, { json: { text } });
    await stage.settled(id);
  }
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

interface Page {
  readonly events: readonly EventView[];
  readonly last: number;
}

const page = async (query: string): Promise<Page> => (await stage.ask(`/v1/events?${query}`)).json;

async function back(query: string, limit: number, from: number | "end"): Promise<readonly EventView[]> {
  const found: EventView[] = [];
  for (let before = String(from); before !== "0"; ) {
    const { events, last } = await page(`${query}&before=${before}&limit=${limit}`);
    found.push(...events);
    before = String(last);
    if (found.length > 500) throw new Error("It does not end.");
  }
  return found;
}

test("events are paged back from the newest, and are the same as forward, with every filter", async () => {
  for (const query of [
    "",
    "project=tea",
    `task=${id}`,
    "agent=human",
    "type=task.commented,task.moved",
    "type=task.*",
  ]) {
    for (const limit of [1, 3, 5000]) {
      // The daemon may add an event meanwhile, such as the call of a person.
      const end = (await page("limit=5000")).last + 1;
      const { events } = await page(`${query}&limit=5000`);
      const forward = events.filter(({ position }) => position < end);
      expect(forward.length).toBeGreaterThan(2);
      expect(await back(query, limit, end)).toEqual(forward.toReversed());
    }
  }
});

test("the newest events of all are those before the end", async () => {
  const [newest] = await back("type=task.commented", 1, "end");
  expect(newest).toEqual((await page("type=task.commented&limit=5000")).events.at(-1));
});

test("only events of the wanted types are listed", async () => {
  const types = async (query: string) =>
    [...new Set((await page(`limit=5000&${query}`)).events.map(({ type }) => type))].sort();
  const all = await types("");
  expect(await types("type=task.commented")).toEqual(["task.commented"]);
  expect(await types("type=project.*,%20task.commented,")).toEqual(["project.added", "task.commented"]);
  expect(await types("type=task.*")).toEqual(all.filter((type) => type.startsWith("task.")));
  expect(await types("type=")).toEqual(all);
  expect(await types("type=pr.*")).toEqual([]);
});

test.for([
  ["type=task.comented", 'There are no events of the type "task.comented".', 'Did you mean "task.commented"?'],
  ["type=tasks.*", 'There are no events of the type "tasks.*".', 'Did you mean "task.*"?'],
  ["type=*", 'There are no events of the type "*".', "docs/events.md lists all."],
  ["before=5&after=1", '"after" and "before" cannot be given together.', undefined],
  ["before=-1", undefined, undefined],
  ["before=x", undefined, undefined],
] as const)("%s is refused", async ([query, message, hint]) => {
  const { status, json } = await stage.ask(`/v1/events?${query}`);
  expect([status, json.error.code]).toEqual([400, "request.invalid"]);
  if (message !== undefined) expect(json.error.message).toBe(message);
  if (hint !== undefined) expect(json.error.hint).toBe(hint);
});
