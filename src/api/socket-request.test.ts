import { expect, test } from "vitest";
import { taskOf } from "./socket-request.ts";

test("the task of a request is named so that a person can copy it", () => {
  expect(taskOf("/v1/tasks/m1/merge?project=coffee")).toBe("m1");
  expect(taskOf("/v1/tasks/12/merge?project=coffee")).toBe("coffee#12");
  expect(taskOf("/v1/tasks/coffee%233")).toBe("coffee#3");
  expect(taskOf("/v1/tasks")).toBeUndefined();
  expect(taskOf("/v1/status")).toBeUndefined();
});
