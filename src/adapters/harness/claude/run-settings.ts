import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { type Json, parseObject } from "../read-json.ts";
import { shellQuote } from "../shell-quote.ts";
import { allowed } from "./permissions.ts";

const hooked = [
  ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"],
  ...["Notification", "PreCompact", "Stop", "StopFailure", "SessionEnd"],
];

/** Who the account is and how it is reached. All else in a person's settings could allow more than the run may do. */
const ofTheAccount = [
  ...["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"],
  ...["env", "forceLoginMethod", "forceLoginOrgUUID", "model"],
];

/** The settings of one run, which lie in its own folder: nothing of the person's is written to. */
export function runSettings(order: HarnessOrder, configFolder: string): Json {
  return {
    ...(order.permissions === "full"
      ? // Else it asks before it starts whether that is really meant.
        { skipDangerousModePermissionPrompt: true }
      : { ...accountSettings(configFolder), permissions: { defaultMode: "dontAsk", allow: allowed(order) } }),
    // What a turn prints says the same as its hooks would.
    ...(order.mode === "session" ? { hooks: hooksOf(order.hook) } : {}),
  };
}

function hooksOf(hook: readonly string[]): Json {
  // There is a shell in between, which is the program's own choice.
  const command = { type: "command", command: shellQuote(hook), timeout: 30 };
  return hook.length === 0 ? {} : Object.fromEntries(hooked.map((name) => [name, [{ hooks: [command] }]]));
}

function accountSettings(configFolder: string): Json {
  const settings = parseObject(readText(join(configFolder, "settings.json")));
  return Object.fromEntries(
    ofTheAccount.flatMap((name) => (Object.hasOwn(settings, name) ? [[name, settings[name]]] : [])),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
