import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { HarnessOrder, Launch } from "../../../ports/harness.ts";
import { findProgram } from "../find-program.ts";
import { codexHome, isHomeTemporary } from "./codex-home.ts";
import type { CodexPorts } from "./codex-ports.ts";
import { hasProjectSettings } from "./has-project-settings.ts";
import { hookSettings } from "./hooks.ts";
import { modelUpgrades } from "./model-upgrades.ts";
import { reducedSettings } from "./reduced-settings.ts";
import { isSessionId } from "./rollout-of.ts";
import { strictSchema } from "./strict-schema.ts";
import { tomlText } from "./toml-text.ts";
import { keepNotes } from "./turn-notes.ts";

type Setting = readonly [key: string, value: string];

/** The longest prompt that goes among the arguments. The system takes no argument of 128 KiB. */
const longestArgument = 100_000;

export async function prepare(order: HarnessOrder, ports: CodexPorts): Promise<Launch> {
  checkSession(order);
  const { program: name = "codex" } = ports;
  const program = findProgram(name, order.env.PATH ?? "") || name;
  await mkdir(order.runFolder, { recursive: true });
  const env = await environmentOf(order);
  const session = order.session.kind === "resume" ? order.session.id : "";
  if (order.mode === "turn") {
    const argv = [program, ...(await turnArguments(order, ports))];
    return { argv, env, input: order.prompt, message: "", session };
  }
  const argv = [program, ...(await sessionArguments(order, program, ports))];
  const isShort = Buffer.byteLength(order.prompt) <= longestArgument;
  if (order.prompt === "" || !isShort) return { argv, env, input: "", message: order.prompt, session };
  return { argv: [...argv, "--", order.prompt], env, input: "", message: "", session };
}

function checkSession({ session }: HarnessOrder): void {
  if (session.kind === "new" || isSessionId(session.id)) return;
  throw new Fault("harness.session-unknown", `"${session.id}" is no session of Codex.`, {
    hint: "Start a new session.",
  });
}

async function turnArguments(order: HarnessOrder, ports: CodexPorts): Promise<readonly string[]> {
  const strict = strictSchema(order.schema);
  await keepNotes(order, {
    model: order.model,
    home: codexHome(order.env),
    schema: strict === undefined ? undefined : order.schema,
  });
  const schemaFile = join(order.runFolder, "codex-schema.json");
  if (strict !== undefined) await writeFile(schemaFile, JSON.stringify(strict));
  return [
    "exec",
    "--json",
    "--skip-git-repo-check",
    ...(strict === undefined ? [] : ["--output-schema", schemaFile]),
    // What a person has once allowed for good is not allowed to a run with fewer permissions.
    ...(isFull(order) ? [] : ["--ignore-rules"]),
    ...(await sharedArguments(order, ports, [])),
    ...(order.session.kind === "resume" ? ["resume", order.session.id] : []),
    "-",
  ];
}

async function sessionArguments(order: HarnessOrder, program: string, ports: CodexPorts): Promise<readonly string[]> {
  const settings: readonly Setting[] = [
    ["check_for_update_on_startup", "false"],
    ["notice.model_migrations", tomlText(await modelUpgrades(program, { ...ports, env: order.env }))],
    ...(order.hook.length === 0 ? [] : hookSettings(order.hook)),
  ];
  return [
    ...(order.session.kind === "resume" ? ["resume"] : []),
    // Else it leaves a server behind that lives on when the session is over.
    "--no-daemon",
    ...(await sharedArguments(order, ports, settings)),
    ...(order.session.kind === "resume" ? [order.session.id] : []),
  ];
}

/** Everything of ours is said on the command line: the user's own configuration stays as it is. */
async function sharedArguments(
  order: HarnessOrder,
  ports: CodexPorts,
  more: readonly Setting[],
): Promise<readonly string[]> {
  const folder = await realpath(order.folder);
  const settings: readonly Setting[] = [
    ["projects", tomlText({ [folder]: { trust_level: trustIn(folder, order) } })],
    // The profile of a login shell would set another PATH, in which our command line is not.
    ["allow_login_shell", "false"],
    ...(order.effort === "" ? [] : [["model_reasoning_effort", tomlText(order.effort)] as const]),
    ...(order.system === "" ? [] : [["developer_instructions", tomlText(order.system)] as const]),
    ...mcpSettings(order),
    ...(isFull(order) ? [] : await reducedSettings(order, ports)),
    ...(order.tools === undefined || order.tools.includes("web")
      ? []
      : [["web_search", tomlText("disabled")] as const]),
    ...more,
  ];
  return [
    // Without it Codex would choose by what it once wrote about the folder into its configuration.
    ...(isFull(order) ? ["--dangerously-bypass-approvals-and-sandbox"] : ["-c", 'approval_policy="never"']),
    "-C",
    folder,
    ...(order.model === "" ? [] : ["-m", order.model]),
    ...settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
  ];
}

/**
 * A trusted folder is opened without a dialog. What its settings start is in no sandbox, so they are not obeyed where
 * permissions are reduced, though then Codex does not read its AGENTS.md either, and asks before a session.
 */
function trustIn(folder: string, order: HarnessOrder): "trusted" | "untrusted" {
  return isFull(order) || !hasProjectSettings(folder, codexHome(order.env)) ? "trusted" : "untrusted";
}

function isFull({ permissions, tools }: HarnessOrder): boolean {
  return permissions === "full" && (tools === undefined || tools.includes("write"));
}

function mcpSettings({ mcp }: HarnessOrder): readonly Setting[] {
  if (mcp === undefined) return [];
  const [command = "", ...args] = mcp.argv;
  // Everybody on the machine can see arguments, and its environment has a token: only the names are told here. Nobody is
  // there to say yes to each call.
  const server = { command, args, env_vars: Object.keys(mcp.env), default_tools_approval_mode: "approve" };
  return [["mcp_servers.signalbox", tomlText(server)]];
}

async function environmentOf(order: HarnessOrder): Promise<Readonly<Record<string, string>>> {
  const env = { ...order.env, ...order.mcp?.env };
  if (!isHomeTemporary(env)) return env;
  const temporary = join(order.runFolder, "tmp");
  await mkdir(temporary, { recursive: true });
  return { ...env, TMPDIR: temporary };
}
