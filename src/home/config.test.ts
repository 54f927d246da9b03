import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { formatProblem } from "../engine/language/problem.ts";
import { configFault, loadConfig, readConfig, setConfig } from "./config.ts";
import type { Level } from "./config-fields.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-config-"));
afterAll(() => rmSync(base, { recursive: true }));

const projectKeys = `workflow: team
harness: codex
review_harness: claude
model: opus
branch_prefix: bot-
pool_size: 2
autostart: false
`;
const userKeys = `port: 8080
log_level: debug
notify:
  desktop: false
  webhook: https://example.org/hook
  webhook_secret_env: HOOK_SECRET
`;
const schema = "$schema: ../schema/config.schema.json\n";

function problemsOf(text: string, level: Level = "user") {
  return readConfig(text, "config.yml", level).problems.map(formatProblem);
}

describe("the user's file", () => {
  test("may set every field", () => {
    expect(readConfig(schema + projectKeys + userKeys, "config.yml", "user")).toEqual({
      config: {
        workflow: "team",
        harness: "codex",
        reviewHarness: "claude",
        model: "opus",
        branchPrefix: "bot-",
        poolSize: 2,
        autostart: false,
        port: 8080,
        logLevel: "debug",
        notifyDesktop: false,
        notifyWebhook: "https://example.org/hook",
        notifyWebhookSecretEnv: "HOOK_SECRET",
      },
      problems: [],
    });
  });

  test.each(["", "# nothing yet\n", "notify:\n", "{}"])("may be empty: %j", (text) => {
    expect(readConfig(text, "config.yml", "user")).toEqual({ config: {}, problems: [] });
  });

  test("with problems has each one reported at its place, and sets nothing", () => {
    const text = "harnes: codex\npool_size: 0\nport: 65536\nautostart: maybe\nnotify:\n  desktp: true\nmodel: opus\n";
    expect(problemsOf(text)).toEqual([
      'config.yml:1:1 error: A configuration has no key "harnes". Did you mean "harness"?',
      'config.yml:2:12 error: "pool_size" must be at least 1.',
      'config.yml:3:7 error: "port" must be at most 65535.',
      'config.yml:4:12 error: "autostart" must be true or false, but is "maybe".',
      'config.yml:6:3 error: A map of notifications has no key "desktp". Did you mean "desktop"?',
    ]);
    expect(readConfig(text, "config.yml", "user").config).toEqual({});
  });

  test.each([
    ["pool_size: 1.5", 'config.yml:1:12 error: "pool_size" must be a whole number, but is 1.5.'],
    ["log_level: loud", 'config.yml:1:12 error: "log_level" cannot be "loud". Known: debug, info, warn, error.'],
    ["- a", 'config.yml:1:1 error: "The file" must be'],
    ["model: [", "config.yml:1:8 error: This [ is never closed."],
    ["model: a\nmodel: b", 'config.yml:2:1 error: The key "model" is already used above.'],
    ["workflow: ./mine.yml", '1:11 error: "workflow" must be the name of a workflow, but is "./mine.yml".'],
    ["workflow: ''", '1:11 error: "workflow" must be the name of a workflow'],
    ["harness: ''", '1:10 error: "harness" must not be empty.'],
    ["branch_prefix: --force", '1:16 error: The branch name "--forcetask" begins with a hyphen'],
    ["notify: { webhook: ftp://a.b/c }", '1:20 error: "webhook" must be an http or https address'],
  ])("may not contain %j", (text, problem) => {
    expect(problemsOf(text).join("\n")).toContain(problem.replace('"The file"', "The file"));
  });

  test("with a secret in place of a variable's name does not have it repeated in the message", () => {
    const [problem = ""] = problemsOf("notify: { webhook_secret_env: 's3cr3t!' }");
    expect(problem).toContain('"webhook_secret_env" must be the name of a variable.');
    expect(problem).not.toContain("s3cr3t");
    // The address of a webhook often is the secret.
    expect(problemsOf("notify: { webhook: 'hooks.example/s3cr3t' }").join("\n")).not.toContain("s3cr3t");
  });
});

describe("a repository's file", () => {
  test("may set a project's settings", () => {
    const { config, problems } = readConfig(schema + projectKeys, "config.yml", "project");
    expect(problems).toEqual([]);
    expect(Object.keys(config)).toHaveLength(7);
  });

  test("may not set the user's settings, and the message says where they belong", () => {
    const fix = "Move it into your own config.yml, in SIGNALBOX_HOME (~/.signalbox).";
    expect(problemsOf(projectKeys + userKeys, "project")).toEqual([
      `config.yml:8:1 error: "port" is not allowed in a repository's configuration. ${fix}`,
      `config.yml:9:1 error: "log_level" is not allowed in a repository's configuration. ${fix}`,
      `config.yml:10:1 error: "notify" is not allowed in a repository's configuration. ${fix}`,
    ]);
  });

  test("with a misspelt key is not offered a key of the user's", () => {
    expect(problemsOf("prot: 1", "project")).toEqual([
      expect.stringMatching(/A configuration has no key "prot"\. Known: workflow, /),
    ]);
  });
});

describe("loading", () => {
  test("a missing file sets nothing", () => {
    expect(loadConfig(join(base, "none", "config.yml"), "user")).toEqual({ config: {}, problems: [] });
  });

  test("an existing file is read", () => {
    const file = join(base, "config.yml");
    writeFileSync(file, "model: opus\n");
    expect(loadConfig(file, "project").config).toEqual({ model: "opus" });
  });

  test("a folder or a device in the file's place is a Fault", () => {
    mkdirSync(join(base, "folder.yml"));
    symlinkSync("/dev/zero", join(base, "device.yml"));
    symlinkSync(join(base, "round.yml"), join(base, "round.yml"));
    expect(() => loadConfig(join(base, "folder.yml"), "user")).toThrow("folder.yml is not a file.");
    expect(() => loadConfig(join(base, "device.yml"), "project")).toThrow("device.yml is not a file.");
    expect(() => loadConfig(join(base, "round.yml"), "user")).toThrow("round.yml cannot be read (ELOOP).");
  });

  test("the problems of a file make one Fault", () => {
    const { problems } = readConfig("a: 1\nb: 2\n", "/home/config.yml", "user");
    const fault = configFault("/home/config.yml", problems);
    expect(fault.message.split("\n")).toHaveLength(3);
    expect(fault.message).toContain("\n  /home/config.yml:2:1 error: ");
    expect(fault.hint).toBeDefined();
  });
});

test.each([
  ["agents.stall", "5"],
  ["agents.time_limit", "1.5"],
  ["setup_timeout", "300"],
  ["test_timeout", "30"],
  ["keep_ended", "30"],
])("%s takes no new time without a unit, and names the units; one that a file has is in seconds", (key, value) => {
  const message = `"${key}" has no unit: write ${value}m for minutes, ${value}s for seconds or ${value}h for hours.`;
  expect(() => setConfig("", key, value)).toThrow(message);
  const [group = "", name] = key.split(".");
  for (const written of [value, `"${value}"`]) {
    const text = name === undefined ? `${group}: ${written}\n` : `${group}: { ${name}: ${written} }\n`;
    const { config, problems } = readConfig(text, "config.yml", "user");
    expect([problems, Object.values(config)]).toEqual([[], [value]]);
  }
});

test("no time at all needs no unit", () => {
  expect(readConfig(setConfig("", "agents.stall", "0"), "config.yml", "user").config).toEqual({ agentsStall: "0" });
});
