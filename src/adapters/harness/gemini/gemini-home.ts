import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { isJsonObject } from "../../json-at.ts";
import { parseObject } from "../json-at.ts";
import { shellQuote } from "../shell-quote.ts";
import { mcpName } from "./policy-text.ts";

/** Where Gemini keeps what is the user's. */
export function userFolder(env: Readonly<Record<string, string>>, home: string): string {
  return join(env.GEMINI_CLI_HOME || env.HOME || home, ".gemini");
}

/**
 * Makes a home for one run: the user's settings with ours on top, and links to everything else, so that conversations and
 * logins stay the user's. Settings of ours could only go into the user's file, the repository's, or one that belongs to root.
 */
export async function makeHome(order: HarnessOrder, user: string): Promise<string> {
  const home = join(order.runFolder, "gemini-home");
  const own = join(home, ".gemini");
  await mkdir(own, { recursive: true });
  // What is made later must be the user's too, or no other run would find it.
  for (const folder of ["tmp", "history"]) await mkdir(join(user, folder), { recursive: true });
  for (const name of await readdir(user)) {
    if (name === "settings.json" || name.startsWith("projects.json")) continue;
    await symlink(join(user, name), join(own, name)).catch(unlessThere);
  }
  // It is replaced and not written to, which would leave the link behind; the folders in `tmp` tell whose they are.
  await copyFile(join(user, "projects.json"), join(own, "projects.json")).catch(unlessMissing);
  const settings = await readSettings(join(user, "settings.json"));
  await writeFile(join(own, "settings.json"), JSON.stringify(settingsOf(order, settings), undefined, 2), {
    mode: 0o600,
  });
  return home;
}

type Settings = Readonly<Record<string, unknown>>;

function settingsOf(order: HarnessOrder, user: Settings): Settings {
  const auth = part(part(user, "security"), "auth");
  const selectedType = auth.selectedType ?? authOf(order.env);
  return {
    ...user,
    general: {
      ...part(user, "general"),
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // It takes a conversation that was resumed for two, and deletes both.
      sessionRetention: { enabled: false },
      // Else it goes on for minutes, and nobody learns that the provider has failed.
      maxAttempts: 3,
    },
    // What is pasted is a message of ours, and no order to read files.
    ui: { ...part(user, "ui"), escapePastedAtSymbols: true },
    security: {
      ...part(user, "security"),
      auth: { ...auth, ...(selectedType === undefined ? {} : { selectedType }) },
    },
    ...(order.mcp === undefined ? {} : { mcpServers: { ...part(user, "mcpServers"), [mcpName]: serverOf(order.mcp) } }),
    ...(order.mode === "session" && order.hook.length > 0 ? { hooks: hooksOf(order.hook, part(user, "hooks")) } : {}),
  };
}

function serverOf({ argv, env }: NonNullable<HarnessOrder["mcp"]>): Settings {
  const [command = "", ...args] = argv;
  return { command, args, env, trust: true };
}

const events = ["SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "Notification", "SessionEnd"];

function hooksOf(hook: readonly string[], user: Settings): Settings {
  const command = shellQuote(hook);
  const entry = { hooks: [{ name: "signalbox", type: "command", command }] };
  const added = events.map((event) => [event, [...(Array.isArray(user[event]) ? user[event] : []), entry]] as const);
  return { ...user, ...Object.fromEntries(added) };
}

/** What a person would choose in the dialog that comes up where nothing is chosen. */
function authOf(env: Readonly<Record<string, string>>): string | undefined {
  if (env.GOOGLE_GENAI_USE_GCA === "true") return "oauth-personal";
  if (env.GOOGLE_GENAI_USE_VERTEXAI === "true") return "vertex-ai";
  return env.GEMINI_API_KEY ? "gemini-api-key" : undefined;
}

async function readSettings(file: string): Promise<Settings> {
  const text = await readFile(file, "utf8").catch(unlessMissing);
  if (text === undefined) return {};
  const plain = text.replace(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, quoted: string | undefined) => quoted ?? "",
  );
  const settings = plain.trim() === "" ? {} : parseObject(plain);
  if (settings !== undefined) return settings;
  throw new Fault("harness.settings", `The settings of Gemini CLI in ${file} cannot be read.`, {
    hint: `Start "gemini" in ${dirname(file)} to see what is wrong with them.`,
  });
}

function part(settings: Settings, key: string): Settings {
  const value = Object.hasOwn(settings, key) ? settings[key] : undefined;
  return isJsonObject(value) ? value : {};
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
