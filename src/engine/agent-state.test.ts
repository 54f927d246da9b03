import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "./language/load.ts";
import { type AgentFinding, type AgentSight, reconcileAgent, recordedState } from "./reconcile.ts";
import { noProgress, type Task } from "./task.ts";

const recorded = ["idle", "ready", "working", "done", "stuck"] as const;
const workspaces = ["none", "clean", "dirty"] as const;
const sessions = ["absent", "running", "ended", "lost"] as const;

/** Rows: recorded state and workspace. Columns: absent, running, ended, lost; then the same with the marker printed. */
const table = `
idle    none    idle.     idle.     idle.     idle.     idle.     idle.     idle.     idle.
idle    clean   idle.     idle.     idle.     idle.     idle.     idle.     idle.     idle.
idle    dirty   idle.     idle.     idle.     idle.     idle.     idle.     idle.     idle.
ready   none    idle<     idle<     idle<     idle<     idle<     idle<     idle<     idle<
ready   clean   ready>    working.  ready>    ready>    done>     working.  done>     done>
ready   dirty   working>  working.  working>  working>  done>     working.  done>     done>
working none    idle<     idle<     idle<     idle<     idle<     idle<     idle<     idle<
working clean   ready>    working.  ready>    ready>    done>     working.  done>     done>
working dirty   working>  working.  working>  working>  done>     working.  done>     done>
done    none    done>     done>     done>     done>     done>     done>     done>     done>
done    clean   done>     done>     done>     done>     done>     done>     done>     done>
done    dirty   done>     done>     done>     done>     done>     done>     done>     done>
stuck   none    idle<     idle<     idle<     idle<     idle<     idle<     idle<     idle<
stuck   clean   stuck.    stuck.    stuck.    stuck.    stuck.    stuck.    stuck.    stuck.
stuck   dirty   stuck.    stuck.    stuck.    stuck.    stuck.    stuck.    stuck.    stuck.
`;
const acts = { ".": "none", ">": "go-on", "<": "begin-again" } as const;

const all: readonly AgentSight[] = recorded.flatMap((record) =>
  workspaces.flatMap((workspace) =>
    [false, true].flatMap((marker) =>
      sessions.map((session): AgentSight => ({ recorded: record, workspace, session, marker })),
    ),
  ),
);

test("every combination of record, workspace, session and marker gives the agent's state and the next act", () => {
  const rows = table.trim().split("\n");
  const expected = rows.flatMap((row) => {
    const [, , ...cells] = row.split(/\s+/);
    return cells.map((cell) => ({ state: cell.slice(0, -1), act: acts[cell.slice(-1) as keyof typeof acts] }));
  });
  expect(rows.map((row) => row.split(/\s+/).slice(0, 2).join(" "))).toEqual(
    recorded.flatMap((record) => workspaces.map((workspace) => `${record} ${workspace}`)),
  );
  expect(all).toHaveLength(120);
  expect(all.map(reconcileAgent)).toEqual(expected);
});

test("an agent is done once it has a result, and not when it has just been told to begin again", () => {
  const text = readFileSync(new URL("../../workflows/crew.yml", import.meta.url), "utf8");
  const { workflow } = loadWorkflow(text, "crew.yml");
  if (workflow === undefined) throw new Error("It does not load.");
  const task = {
    status: "queued",
    phase: "doing",
    runCount: 1,
    runs: {},
    wait: noProgress,
    held: undefined,
  } as unknown as Task;
  const seen = { isRaised: false, hasStarted: false };
  expect(recordedState(workflow, task, seen)).toBe("ready");
  expect(recordedState(workflow, { ...task, status: "merging" }, seen)).toBe("done");
  for (const [status, state] of [
    ["merging", "done"],
    ["done", "done"],
    ["working", "ready"],
    ["queued", "ready"],
  ] as const)
    expect([status, recordedState(workflow, { ...task, workspace: "/w", status, phase: "entering" }, seen)]).toEqual([
      status,
      state,
    ]);
});

test("between two attempts an agent is working: it can be killed, and does not wait for a slot", () => {
  const { workflow } = loadWorkflow(
    readFileSync(new URL("../../workflows/crew.yml", import.meta.url), "utf8"),
    "crew.yml",
  );
  if (workflow === undefined) throw new Error("no crew");
  const failed = {
    ...{ status: "working", phase: "waiting", runCount: 2, crashCount: 1, wait: noProgress, held: undefined },
    runs: { worker: { key: "worker#2", mode: "steps" } },
  } as unknown as Task;
  const seen = { isRaised: false, hasStarted: false };
  expect(recordedState(workflow, failed, seen)).toBe("working");
  expect(recordedState(workflow, { ...failed, crashCount: 0 }, seen)).toBe("ready");
});

test("an agent that is found at work has a workspace, unless its work was handed over", () => {
  for (const sight of all) {
    const { state } = reconcileAgent(sight);
    if (state === "ready" || state === "working" || state === "stuck") expect(sight.workspace).not.toBe("none");
  }
});

test("reconciling an agent is idempotent: a second time changes nothing", () => {
  for (const sight of all) {
    const first: AgentFinding = reconcileAgent(sight);
    // Its task is back at its beginning.
    if (first.act === "begin-again") continue;
    expect(reconcileAgent({ ...sight, recorded: first.state }).state).toBe(first.state);
  }
});
