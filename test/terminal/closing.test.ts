import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { procTable } from "./proc-table.ts";
import { createTmuxStage, type TmuxStage } from "./tmux-stage.ts";
import { until } from "./until.ts";

let stage: TmuxStage;
beforeEach(async () => {
  stage = await createTmuxStage({ grace: 400 });
});
afterEach(() => stage.clear());

/** Every process writes its pid into the file `pids`; returns the live ones. */
const alive = async () => {
  const pids = (await readFile(join(stage.folder, "pids"), "utf8")).trim().split("\n").map(Number);
  const identities = await Promise.all(pids.map((pid) => procTable.identify(pid)));
  return { started: pids.length, alive: identities.filter((each) => each !== undefined).length };
};
const openScript = (script: string) => stage.open({ run: "r-1", argv: ["sh", "-c", script] });

test("a program that ignores all signals ends with its children, including those that left its group", async () => {
  await openScript(`trap '' TERM HUP INT; echo $$ >> pids
    sleep 1000 & echo $! >> pids
    setsid sh -c 'echo $$ >> pids; trap "" TERM HUP; setsid sleep 1000 & echo $! >> pids; while :; do sleep 1; done' &
    while [ $(wc -l < pids) -lt 4 ]; do sleep 0.05; done
    printf ready; while :; do sleep 1; done`);
  expect(await alive()).toEqual({ started: 4, alive: 4 });
  await stage.terminal.close("r-1");
  expect(await alive()).toEqual({ started: 4, alive: 0 });
  expect(await stage.terminal.list()).toEqual([]);
});

const daemonise = `(setsid nohup sh -c 'echo $$ >> pids; exec sleep 1000' >/dev/null 2>&1 &)
    (setsid sh -c '(setsid sh -c "echo \\$\\$ >> pids; exec sleep 1000" >/dev/null 2>&1 &)' &)
    while [ "$(wc -l < pids || echo 0)" -lt 2 ]; do sleep 0.05; done`;

test("processes that left the program's session and lost their parents end with its window", async () => {
  await openScript(`${daemonise}; printf ready; while :; do sleep 1; done`);
  await stage.open({ run: "r-2", argv: ["sh", "-c", "printf ready; while :; do sleep 1; done"] });
  expect(await alive()).toEqual({ started: 2, alive: 2 });
  await stage.terminal.close("r-1");
  expect(await alive()).toEqual({ started: 2, alive: 0 });
  expect(await stage.terminal.list()).toMatchObject([{ run: "r-2", dead: undefined }]);
});

test("processes that an ended program left behind are swept, and its window stays", async () => {
  await openScript(`${daemonise}; printf ready; exit 0`);
  await until(stage.terminal.list, ([pane]) => pane?.dead !== undefined);
  expect(await alive()).toEqual({ started: 2, alive: 2 });
  expect(await stage.terminal.sweep("r-1")).toBe(true);
  expect(await alive()).toEqual({ started: 2, alive: 0 });
  expect(await stage.terminal.sweep("r-1")).toBe(false);
  expect(await stage.terminal.list()).toHaveLength(1);
});

test("processes that left a program are found when its window and its run folder are gone", async () => {
  await openScript(`${daemonise}; printf ready; exit 0`);
  await stage.tmux("kill-server");
  await rm(stage.folderOf("r-1"), { recursive: true });
  await stage.terminal.close("r-1");
  expect(await alive()).toEqual({ started: 2, alive: 0 });
});

test("a program has time to end by itself", async () => {
  await openScript(`trap 'echo bye > said; exit 0' TERM; echo $$ >> pids; printf ready; while :; do sleep 0.05; done`);
  await stage.terminal.close("r-1");
  expect(await readFile(join(stage.folder, "said"), "utf8")).toBe("bye\n");
  expect(await alive()).toEqual({ started: 1, alive: 0 });
});

test("a stopped program ends too", async () => {
  const { pid } = await openScript("echo $$ >> pids; printf ready; while :; do sleep 0.05; done");
  process.kill(pid, "SIGSTOP");
  await stage.terminal.closeSession("s-1");
  expect(await alive()).toEqual({ started: 1, alive: 0 });
});

test("processes that an ended program left in its group end with its window", async () => {
  await openScript("trap '' HUP; sleep 1000 & echo $! >> pids; printf ready; exit 0");
  await until(stage.terminal.list, ([pane]) => pane?.dead !== undefined);
  expect(await alive()).toEqual({ started: 1, alive: 1 });
  await stage.terminal.close("r-1");
  expect(await alive()).toEqual({ started: 1, alive: 0 });
});
