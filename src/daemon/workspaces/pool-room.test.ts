import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { createPoolRoom } from "./pool.ts";

function stage() {
  const clock = createScriptedClock();
  const room = createPoolRoom(clock);
  const told: string[] = [];
  const wait = (project: string, task: string) =>
    void room.wait(project, task).then(
      () => told.push(task),
      (error) => told.push(`${task}: ${error.code}`),
    );
  wait("coffee", "t1");
  wait("coffee", "t2");
  wait("tea", "t3");
  const waiting = () => ["t1", "t2", "t3"].filter((task) => room.waits(task));
  return { clock, room, told, wait, waiting };
}

test("a released workspace wakes all waiting tasks of its project, and no others", async () => {
  const { clock, room, told, waiting } = stage();
  room.freed("coffee");
  await clock.pass(0);
  expect([told, waiting()]).toEqual([["t1", "t2"], ["t3"]]);
});

test("a task that has changed is woken alone", async () => {
  const { clock, room, told, waiting } = stage();
  room.changed("t2");
  await clock.pass(0);
  expect([told, waiting()]).toEqual([["t2"], ["t1", "t3"]]);
});

test("a waiting task polls for changes without a notification", async () => {
  const { clock, told, waiting } = stage();
  await clock.pass(9_999);
  expect(told).toEqual([]);
  await clock.pass(1);
  expect([told, waiting()]).toEqual([["t1", "t2", "t3"], []]);
});

test("stopping rejects every wait, and every new one", async () => {
  const { clock, room, told, wait, waiting } = stage();
  room.stop();
  wait("tea", "t4");
  await clock.pass(0);
  const stopped = ["t1", "t2", "t3", "t4"].map((task) => `${task}: daemon.stopping`);
  expect([new Set(told), waiting()]).toEqual([new Set(stopped), []]);
});
