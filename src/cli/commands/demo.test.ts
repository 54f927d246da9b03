import { expect, test } from "vitest";
import { Refusal } from "../../api/client.ts";
import type { Stage } from "../demo/stage.ts";
import { withEvidence } from "./demo.ts";

const stage = { folder: "/tmp/demo", home: "/tmp/demo/home", places: { log: "/tmp/demo/home/daemon.log" } } as Stage;

test("the advice of a demo that failed can be copied: its commands name the demo's home, and stand at the end of a line", () => {
  const fix = "Wait for it: signalbox task wait a1b2c\nSee what its agent is doing: signalbox task peek a1b2c";
  const refusal = new Refusal([{ code: "not-waiting", text: "coffee#1 is not ready to be merged.", fix }]);
  expect(withEvidence(refusal, stage, "bin/signalbox").hint?.split("\n")).toEqual([
    "Wait for it: SIGNALBOX_HOME=/tmp/demo/home bin/signalbox task wait a1b2c",
    "See what its agent is doing: SIGNALBOX_HOME=/tmp/demo/home bin/signalbox task peek a1b2c",
    "Everything is kept in /tmp/demo",
    "The daemon's log is /tmp/demo/home/daemon.log",
    "To remove it: SIGNALBOX_HOME=/tmp/demo/home bin/signalbox down; rm -r /tmp/demo",
  ]);
});
