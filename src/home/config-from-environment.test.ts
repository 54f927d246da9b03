import { expect, test } from "vitest";
import { configFromEnvironment } from "./config.ts";

test("the environment may set a project's settings", () => {
  const env = {
    SIGNALBOX_WORKFLOW: "team",
    SIGNALBOX_HARNESS: "codex",
    SIGNALBOX_REVIEW_HARNESS: "claude",
    SIGNALBOX_MODEL: "7",
    SIGNALBOX_BRANCH_PREFIX: "bot/",
    SIGNALBOX_AUTOSTART: "false",
    SIGNALBOX_POOL_SIZE: "12",
    SIGNALBOX_PORT: "8080",
    SIGNALBOX_HOME: "/srv",
  };
  expect(configFromEnvironment(env)).toEqual({
    workflow: "team",
    harness: "codex",
    reviewHarness: "claude",
    model: "7",
    branchPrefix: "bot/",
    autostart: false,
    poolSize: 12,
  });
});

test("a variable that is not set or empty sets nothing", () => {
  expect(configFromEnvironment({ SIGNALBOX_MODEL: "", SIGNALBOX_AUTOSTART: undefined })).toEqual({});
});

test.each([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
])("SIGNALBOX_AUTOSTART=%s is %s", (written, autostart) => {
  expect(configFromEnvironment({ SIGNALBOX_AUTOSTART: written })).toEqual({ autostart });
});

test.each([
  ["SIGNALBOX_AUTOSTART", "yes", '"SIGNALBOX_AUTOSTART" must be true or false, but is "yes".'],
  ["SIGNALBOX_POOL_SIZE", "many", '"SIGNALBOX_POOL_SIZE" must be a whole number, but is "many".'],
  ["SIGNALBOX_POOL_SIZE", "0", '"SIGNALBOX_POOL_SIZE" must be at least 1.'],
  ["SIGNALBOX_POOL_SIZE", "1e3", '"SIGNALBOX_POOL_SIZE" must be a whole number, but is "1e3".'],
  ["SIGNALBOX_BRANCH_PREFIX", "a b", 'The branch name "a btask" contains a space.'],
])("%s=%s is an invalid value", (variable, written, message) => {
  expect(() => configFromEnvironment({ [variable]: written })).toThrow(
    expect.objectContaining({ code: "usage", message }),
  );
});
