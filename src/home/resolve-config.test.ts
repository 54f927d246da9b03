import { expect, test } from "vitest";
import { type Layers, resolveConfig } from "./config.ts";

test("without any settings the defaults apply", () => {
  const resolved = resolveConfig({});
  expect(Object.fromEntries(Object.entries(resolved).map(([name, { value }]) => [name, value]))).toEqual({
    workflow: "default",
    harness: "claude",
    reviewHarness: "",
    model: "",
    modelTiers: {
      large: { claude: "opus", codex: "gpt-5.5", gemini: "gemini-2.5-pro", opencode: "" },
      small: { claude: "haiku", codex: "gpt-5.4-mini", gemini: "gemini-2.5-flash", opencode: "" },
    },
    modelFallback: { large: ["small"] },
    branchPrefix: "signalbox/",
    poolSize: 4,
    autostart: true,
    port: 0,
    webAddress: "",
    logLevel: "info",
    notifyDesktop: true,
    notifyWebhook: "",
    notifyWebhookSecretEnv: "",
    notifyCommand: [],
    notifyReasons: [],
    notifyQuiet: "",
    notifyUrgent: [],
    chatTelegramChats: [],
    chatTelegramTokenFile: "",
    chatTelegramTokenEnv: "SIGNALBOX_TELEGRAM_TOKEN",
    chatTelegramAddress: "https://api.telegram.org",
    keep: ["node_modules", ".venv", "target"],
    copy: [],
    dashboardBell: true,
    dashboardKeys: {},
    link: [],
    setup: [],
    teardown: [],
    setupTimeout: "10m",
    testCommand: [],
    testTimeout: "30m",
    requireTests: false,
    protect: [],
    ports: "20000-20999",
    presets: {},
    diskLimit: "50GB",
    tickets: "files",
    ticketsLabel: "ready",
    trashDays: 30,
    trashLimit: "10GB",
    keepEnded: "30d",
    forge: "auto",
    forgeHost: "",
    forgeApiUrl: "",
    forgeTokenEnv: "",
    forgeMerge: "merge",
    forgeInterval: 60,
    testMerges: false,
    pushMerges: true,
    land: "local",
    harnesses: {},
    agentsMost: 10,
    agentsLive: 10,
    agentsPerProject: 0,
    agentsPerHarness: [],
    agentsPerModel: [],
    agentsEnvironment: [],
    agentsAliases: ["orange"],
    agentsEffort: "",
    agentsStall: "5m",
    agentsTimeLimit: "2h",
    agentsOutputLimit: "64MB",
    agentsFullPermissions: "ask",
    agentsSandbox: "auto",
    agentsSandboxRead: [],
    agentsSandboxWrite: [],
    agentsNetworkAllow: [],
    budgetTask: 0,
    budgetTaskTokens: 0,
    budgetUnknownRun: 0,
    budgetUnknownRunTokens: 0,
    budgetProjectDay: 0,
    budgetDay: 0,
  });
  expect(new Set(Object.values(resolved).map(({ source }) => source))).toEqual(new Set(["default"]));
});

test("each key takes its value from the source with the highest precedence", () => {
  const order = ["flag", "environment", "repository", "project", "user"] as const;
  for (const [i, source] of order.entries()) {
    const layers: Layers = Object.fromEntries(order.slice(i).map((each) => [each, { model: each }]));
    expect(resolveConfig({ ...layers, user: { ...layers.user, harness: "codex" } })).toMatchObject({
      model: { value: source, source },
      harness: { value: "codex", source: "user" },
      poolSize: { value: 4, source: "default" },
    });
  }
});

test("false, 0 and the empty text count as values; undefined does not", () => {
  const resolved = resolveConfig({
    flag: { autostart: false, poolSize: undefined },
    user: { autostart: true, reviewHarness: "", port: 0, poolSize: 9 },
  });
  expect(resolved).toMatchObject({
    autostart: { value: false, source: "flag" },
    reviewHarness: { value: "", source: "user" },
    port: { value: 0, source: "user" },
    poolSize: { value: 9, source: "user" },
  });
});

test("tiers of models are combined: each harness of each tier is taken from the first source that has it", () => {
  const { value, source } = resolveConfig({
    repository: { modelTiers: { large: { claude: "from-repository" } } },
    user: { modelTiers: { large: { claude: "from-user", mine: "own" }, huge: { mine: "huge" } } },
  }).modelTiers;
  expect(source).toBe("repository");
  expect(value.large).toMatchObject({ claude: "from-repository", mine: "own", gemini: "gemini-2.5-pro" });
  expect(value.huge).toEqual({ mine: "huge" });
  expect(resolveConfig({ user: { modelFallback: { large: [] } } }).modelFallback.value).toEqual({ large: [] });
});
