import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { openPullRequest } from "../../src/daemon/requests/branch-task.ts";
import { projectChanges, trustProject } from "../../src/daemon/requests/permissions.ts";
import { forgeStage } from "./forge-stage.ts";

const id = "b1111";
const branch = `signalbox/${id}`;
const command = "signalbox project trust coffee";

/** A project whose settings are trusted; then its remote becomes a folder with a hook that leaves a mark. */
async function start() {
  const stage = await forgeStage({ place: "alone" });
  const { core, store, git, repository, remote } = stage;
  const asked = <Body>(params: Record<string, string>, body: Body): Asked<object, Body> => ({
    ...{ params, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const look = () => projectChanges(core)(asked({ project: "coffee" }, undefined));
  const trust = async () =>
    trustProject(core)(asked({ project: "coffee" }, { fingerprint: (await look()).fingerprint }));
  await trust();
  const mark = join(remote, "hook-ran");
  writeFileSync(join(remote, "hooks", "post-receive"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const point = (address = remote) => git(repository, "remote", "add", "origin", address);
  return {
    ...{ ...stage, look, trust, point },
    hookRan: () => existsSync(mark),
    createPr: () => openPullRequest(core)(asked({ task: id }, {})),
    heldFor: async () => (await store.getTask(id))?.task.held?.reason,
  };
}

for (const state of ["pushed", "offered", "synced", "joined"]) {
  test(`no hook of a remote folder runs before a person has trusted it: "${state}" is held, and continues then`, async () => {
    const { begin, move, point, hookRan, trust, until, remoteAt, look } = await start();
    await begin();
    point();
    const { held } = await move(id, state);
    expect([held?.reason.includes(command), hookRan(), remoteAt(branch)]).toEqual([true, false, undefined]);
    expect(held?.reason).toContain("remote.origin.url");
    expect((await look()).changes).toContainEqual({ name: "remote.origin.url", change: "added" });

    await trust();
    const { status } = await until(id, ({ task }) => task.held === undefined && task.status !== state);
    expect([status, hookRan()]).toEqual([state === "joined" ? "served" : "resting", state !== "synced"]);
  });
}

test("a remote's branch is not deleted at an address that nobody has trusted", async () => {
  const { begin, move, point, trust, remote, git, repository, remoteAt } = await start();
  await begin();
  point();
  await trust();
  await move(id, "pushed");
  git(repository, "remote", "set-url", "origin", `file://${remote}`);
  expect((await move(id, "swept")).held?.reason ?? "").toContain(command);
  expect(remoteAt(branch)).toBeDefined();
});

test("a person's pull request is refused while the remote's folder is untrusted", async () => {
  const { begin, point, createPr, hookRan, trust, remoteAt } = await start();
  const { workspace } = await begin();
  point();
  await expect(createPr()).rejects.toMatchObject({ code: "project.changed", hint: expect.stringContaining(command) });
  expect([hookRan(), workspace !== "", remoteAt(branch)]).toEqual([false, true, undefined]);
  await trust();
  await createPr();
  expect(hookRan()).toBe(true);
});
