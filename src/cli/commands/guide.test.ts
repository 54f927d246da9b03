import { expect, test } from "vitest";
import type { TaskView } from "../../api/tasks.ts";
import { createPaint } from "../fast/tell.ts";
import type { Board } from "../watch/live.ts";
import { watchLines } from "../watch/rows.ts";
import { rowsFor } from "./guide.ts";

test("the guide gives the reason and the command for every task that needs the person, however many they are", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  const names = Array.from({ length: 30 }, (_, i) => `t${String(i).padStart(4, "0")}`);
  const tasks = names.map(
    (id, i) =>
      ({
        ...{ id, project: "coffee", number: i, summary: `About ${id}`, status: "brewing", outcome: null },
        ...{ session: "none", needsPerson: i % 2 === 0, createdAt: new Date(now).toISOString() },
        ...{ parent: i % 4 === 0 ? (names[i + 1] ?? "") : "", part: null, children: null },
      }) as TaskView,
  );
  const needy = tasks.filter(({ needsPerson }) => needsPerson);
  const needs = new Map(needy.map(({ id }) => [id, { reason: `Why ${id}`, command: `signalbox task continue ${id}` }]));
  const board: Board = { tasks, runs: [], usage: new Map(), needs, paused: { all: false, projects: ["coffee"] } };
  const frame = { columns: 79, rows: rowsFor(board), paint: createPaint(false), now, title: "coffee", trouble: "" };
  const text = watchLines(board, frame).join("\n");
  for (const { id } of needy) expect(text).toContain(`Why ${id} → signalbox task continue ${id}`);
});
