import { join } from "node:path";
import { cacheFolder } from "./install.ts";

/** The environment that points OpenCode to the scripted model, and keeps it off the network. */
export function opencodeEnv(url: string): Readonly<Record<string, string>> {
  const model = { tool_call: true, cost: { input: 1, output: 2 }, limit: { context: 200_000, output: 8_000 } };
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${url}/v1`, apiKey: "scripted" },
    models: { model },
  };
  const config = {
    model: "scripted/model",
    small_model: "scripted/model",
    enabled_providers: ["scripted"],
    provider: { scripted: provider },
  };
  return { ...quiet, OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
}

const quiet = {
  // OpenCode installs a package there before it loads plugins. In a separate home every row would wait for that.
  XDG_CONFIG_HOME: join(cacheFolder(), "opencode", "config"),
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
};

/** With the user's ChatGPT account, which OpenCode reaches without a model server of its own. */
export const openAiEnv: Readonly<Record<string, string>> = {
  ...quiet,
  OPENCODE_CONFIG_CONTENT: JSON.stringify({ enabled_providers: ["openai"], small_model: "openai/gpt-5.5" }),
};
