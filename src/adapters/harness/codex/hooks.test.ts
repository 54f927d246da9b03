import { expect, test } from "vitest";
import { hookSettings, readHook } from "./settings.ts";

test("a hook is trusted by the hash that Codex 0.166 computes for it", () => {
  const settings = new Map(hookSettings({ report: ["/tmp/hook", "it's"] }));
  expect(settings.get("hooks.Stop")).toBe(
    String.raw`[{"hooks"=[{"type"="command","command"="/tmp/hook 'it'\\''s'","timeout"=3}]}]`,
  );
  expect(settings.get("hooks.state")).toContain(
    '"/<session-flags>/config.toml:stop:0:0"={"trusted_hash"="sha256:6d42344565c6ca4f8c7b14e8824bbff8fb4bec8c1087b94c6e3336e9ede82d0a"}',
  );
});

const about = { session_id: "s", transcript_path: "/t.jsonl", cwd: "/w" };

test.each([
  ["SessionStart", { source: "startup" }, [{ kind: "session", id: "s", transcript: "/t.jsonl" }]],
  [
    "UserPromptSubmit",
    { prompt: "a\nb" },
    [
      { kind: "prompted", text: "a\nb" },
      { kind: "busy", what: "" },
    ],
  ],
  ["PermissionRequest", { tool_name: "Bash" }, [{ kind: "asks", about: "Bash" }]],
  ["Stop", { last_assistant_message: "done" }, [{ kind: "idle", said: "done" }]],
  ["Stop", { last_assistant_message: null }, [{ kind: "idle", said: "" }]],
  ["Interrupt", {}, [{ kind: "idle", said: "" }]],
  ["SessionEnd", { reason: "other" }, [{ kind: "over" }]],
  ["Later", {}, []],
])("the input of the hook %s gives its events", (name, more, events) => {
  expect(readHook(JSON.stringify({ ...about, hook_event_name: name, ...more }))).toEqual(events);
});

test.each(["", "no JSON", "[]", '{"hook_event_name":3}'])(
  "a line that is not a hook's input gives no event: %s",
  (line) => {
    expect(readHook(line)).toEqual([]);
  },
);
