import { expect, test, vi } from "vitest";
import { row, stateWith } from "../../test/tui/sample.ts";
import { createClient } from "../api/client.ts";
import { createDetailSource } from "./detail-source.ts";
import { moved, withDetail } from "./place.ts";

test("a late answer about one task is not shown as another's, on which the cursor is by then", async () => {
  let state = stateWith([row(1), row(2)], { columns: 160 });
  const answered = Promise.withResolvers<void>();
  const asked: string[] = [];
  const call = createClient(async ({ path }) => {
    const [, task = ""] = /\/tasks\/([^/]+)\//.exec(path) ?? [];
    asked.push(path);
    if (path === "/v1/tasks/t1/explain") await answered.promise;
    const body = path.endsWith("/actions") ? { task: { id: task }, actions: [] } : { where: `About ${task}` };
    return { status: 200, headers: {}, body: JSON.stringify(body) };
  });
  const source = createDetailSource(
    { call } as never,
    () => state,
    (change) => {
      state = change(state);
    },
  );
  const shown = () => state.detail?.explain?.where;
  expect(state.detail?.task).toBe("t1");
  source.look();
  await vi.waitFor(() => expect(asked).toContain("/v1/tasks/t1/explain"));
  state = withDetail(moved(state, 1));
  source.look();
  await vi.waitFor(() => expect(shown()).toBe("About t2"));
  answered.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(state.detail?.task).toBe("t2");
  expect(shown()).toBe("About t2");
  source.close();
});
