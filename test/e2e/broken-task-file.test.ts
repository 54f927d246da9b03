import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { homePlaces } from "../../src/home/places.ts";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test.for([
  ["of 2 MB", (file: string) => writeFileSync(file, "x".repeat(2 * 1024 * 1024))],
  ["that is a link", (file: string) => symlinkSync("/etc/hostname", file)],
  ["that is a folder", (file: string) => mkdirSync(file)],
] as const)(
  "with a task file %s a task is explained without filling the log, and pause, cancel and down work",
  async ([, damage]) => {
    const { home, signalbox, in: at } = await startBrew(["coffee"]);
    const coffee = at("coffee");
    await signalbox(["task", "create", "Brew it"], coffee);
    await signalbox(["task", "continue", "1"], coffee);
    const path = async () => (await signalbox(["task", "path", "1"], coffee)).stdout.trim();
    await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
    const file = join(await path(), "TASK.md");
    await vi.waitFor(() => rmSync(file), 30_000);
    damage(file);
    expect((await signalbox(["task", "explain", "1"], coffee)).stdout).toMatch(/TASK\.md[\s\S]*?(1 MB|link|folder)/);
    await new Promise((done) => setTimeout(done, 3_000));
    const { log } = homePlaces(home);
    const told = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => /"level":"error"|\berror\b/i.test(line) && line.includes("TASK.md"));
    expect(told.length).toBeLessThanOrEqual(1);
    expect(await signalbox(["pause", "--all", "--now"], coffee)).toMatchObject({ code: 0 });
    expect(await signalbox(["task", "cancel", "1"], coffee)).toMatchObject({ code: 0 });
    expect(await signalbox(["down"], coffee)).toMatchObject({ code: 0 });
  },
);
