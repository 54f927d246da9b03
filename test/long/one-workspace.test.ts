import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually } from "../agents/stage.ts";
import { parents, policies, shareOneWorkspace } from "../daemon/crowded-parents.ts";
import { openTeam } from "../scenarios/team-stage.ts";

test.for(policies)(
  "three parents share one workspace with the policy %s, and each is cancelled at every step: everything ends, and nothing is left",
  async (policy) => {
    const states = new Set<string>();
    for (const parent of parents) {
      for (let step = 0; ; step++) {
        const seen = await shareOneWorkspace(policy, parent, step);
        if (seen === "") break;
        for (const state of seen.split(" ")) states.add(state);
      }
    }
    expect([...states].sort()).toEqual(["building", "planning", "queued", "waiting", "working"]);
  },
);

const parts = [
  { id: "a" },
  { id: "b", steps: [{ error: { kind: "other", message: "No luck." } }] },
  { id: "c", needs: ["b"] },
  { id: "d", needs: ["a"] },
];

/** Seconds after which one of three teams is cancelled, each in its turn; together they take about twenty. */
const delays = Array.from({ length: 12 }, (_, i) => 0.3 + i * 1.2);

test.for(policies)(
  "three real teams share one workspace with the policy %s, and leave nothing behind",
  async (policy) => {
    const stage = await openTeam(parts, { poolSize: 1, config: "test_command: [git, --version]\n" });
    try {
      const settings = { skip_clarification: true, failure_policy: policy };
      for (const [round, delay] of delays.entries()) {
        const ids = [await stage.begin(settings), await stage.begin(settings), await stage.begin(settings)];
        const cancelled = ids[round % ids.length] ?? "";
        await sleep(delay * 1_000);
        await stage.call(routes.cancelTask, { params: { task: cancelled }, body: {} }).catch(async (error) => {
          // It may have ended already.
          if ((await stage.task(cancelled)).phase !== "over") throw error;
        });
        const tasks = await eventually(
          async () => {
            const all = (await stage.call(routes.listTasks, { query: { limit: "1000" } })).tasks;
            return all.every(({ phase }) => phase === "over") ? all : undefined;
          },
          300_000,
          async () => JSON.stringify((await stage.call(routes.listTasks, { query: { open: "true" } })).tasks),
        );
        expect(await stage.runs()).toEqual([]);
        expect(tasks.filter(({ workspace }) => workspace !== "")).toEqual([]);
        const status = policy === "stop" ? "FAILED" : "COMPLETED";
        for (const id of ids.filter((each) => each !== cancelled))
          expect([delay, (await stage.task(id)).status]).toEqual([delay, status]);
        expect(await stage.call(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
      }
    } finally {
      await stage.close();
    }
  },
);
