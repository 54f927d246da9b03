import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { sampleProject } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { Fault } from "../../fault.ts";
import { workspaceTrouble } from "./trouble.ts";

test.for([
  ["never", "The task's workspace /w/t1 cannot be used. The configuration of git cannot be read."],
  ["later", undefined],
] as const)(
  "a workspace that cannot be looked at is trouble only where that does not pass by itself (%s)",
  async ([retry, reason]) => {
    const store = createMemoryStore();
    await store.addProject({ ...sampleProject(), path: tmpdir() });
    const workspacesOf = async () => {
      throw new Fault("git.failed", "The configuration of git cannot be read.", { retry });
    };
    const task = { id: "t1", project: "coffee", workspace: "/w/t1", branch: "b", base: "", runs: {} };
    expect((await workspaceTrouble({ store, workspacesOf }, task, async () => true))?.reason).toBe(reason);
  },
);
