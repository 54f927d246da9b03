import { createHash } from "node:crypto";
import type { HarnessEvent } from "../../../ports/harness.ts";
import { parseObject, textAt } from "../json-at.ts";
import { shellQuote } from "../shell-quote.ts";
import { type Toml, tomlText } from "./toml-text.ts";

const events = {
  SessionStart: "session_start",
  UserPromptSubmit: "user_prompt_submit",
  PermissionRequest: "permission_request",
  Stop: "stop",
  Interrupt: "interrupt",
  SessionEnd: "session_end",
} as const;

/** Seconds. At the end of a session Codex waits no longer. */
const timeout = 3;

/**
 * Settings that make a session run a program at its turning points. Codex runs no hook that nobody has looked at: it
 * knows one by a hash of what it does, and so ours are vouched for one by one, and nobody else's with them.
 */
export function hookSettings(argv: readonly string[]): readonly (readonly [key: string, value: string])[] {
  // Codex gives the text to a shell.
  const command = shellQuote(argv);
  const settings = Object.keys(events).map(
    (event) => [`hooks.${event}`, tomlText([{ hooks: [{ type: "command", command, timeout }] }])] as const,
  );
  const trust: Record<string, Toml> = {};
  for (const name of Object.values(events)) {
    trust[`/<session-flags>/config.toml:${name}:0:0`] = { trusted_hash: `sha256:${hashOf(name, command)}` };
  }
  return [...settings, ["hooks.state", tomlText(trust)]];
}

function hashOf(name: string, command: string): string {
  const identity = { event_name: name, hooks: [{ async: false, command, timeout, type: "command" }] };
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex");
}

/** What a hook was told, as one line of JSON. */
export function readHook(line: string): readonly HarnessEvent[] {
  const told = parseObject(line);
  switch (textAt(told, "hook_event_name")) {
    case "SessionStart":
      return [{ kind: "session", id: textAt(told, "session_id"), transcript: textAt(told, "transcript_path") }];
    case "UserPromptSubmit":
      return [
        { kind: "prompted", text: textAt(told, "prompt") },
        { kind: "busy", what: "" },
      ];
    case "PermissionRequest":
      return [{ kind: "asks", about: textAt(told, "tool_name") }];
    case "Stop":
      return [{ kind: "idle", said: textAt(told, "last_assistant_message") }];
    case "Interrupt":
      return [{ kind: "idle", said: "" }];
    case "SessionEnd":
      return [{ kind: "over" }];
    default:
      return [];
  }
}
