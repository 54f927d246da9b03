import { expect, test } from "vitest";
import type { Scenes } from "./scenes.ts";
import { build, busy, handoff } from "./steps.ts";

/** Which task is started when a slot becomes free. */
export function nextInLine(scenes: Scenes): void {
  const begin = (branch: string, project: string, ...flags: readonly string[]) =>
    scenes.begin(
      branch,
      { worker: [{ steps: [...build("one"), handoff("one"), "hang"] }] },
      {
        flags: ["--project", project, ...flags],
      },
    );

  test.concurrent("reviewing → done (human asked): the next task of the same project starts, and no other", async () => {
    await scenes.addProject("juice", 1);
    const first = await begin("juice-1", "juice", "--status", "reviewing");
    await first.reaches("reviewing");
    const second = await begin("juice-2", "juice");
    const third = await begin("juice-3", "juice");
    expect((await second.now()).status).toBe("pending");
    await first.does("merge");
    await first.reaches("done");
    await second.until(({ workspace }) => workspace !== "");
    expect((await second.now()).status).not.toBe("pending");
    expect((await third.now()).status).toBe("pending");
    for (const life of [third, second, first]) await scenes.end(life);
  });

  test.concurrent("reviewing → cancelled (human asked): a freed slot starts no task by itself", async () => {
    await scenes.addProject("water", 1);
    scenes.teach("water-2", { worker: [busy] });
    const first = await begin("water-1", "water", "--status", "reviewing");
    await first.reaches("reviewing");
    const second = await begin("water-2", "water");
    await first.does("cancel");
    await first.reaches("cancelled");
    await first.gaveBack();
    const { stdout } = await scenes.signalbox("task", "explain", second.id);
    expect((await second.now()).status).toBe("pending");
    expect(stdout).toContain(`signalbox task spawn ${second.id}`);
    await second.does("spawn");
    await second.until(({ workspace }) => workspace !== "");
    for (const life of [second, first]) await scenes.end(life);
  });
}
