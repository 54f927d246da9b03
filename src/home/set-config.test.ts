import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig, setConfig } from "./config.ts";

const file = `# What I like.
harness: codex # faster

# Not too many.
pool_size: 2
notify:
  desktop: true # on the laptop
`;

test("a key is changed in its place; comments and order stay", () => {
  expect(setConfig(file, "pool_size", "8")).toBe(file.replace("pool_size: 2", "pool_size: 8"));
  expect(setConfig(file, "notify.desktop", "false")).toBe(file.replace("desktop: true", "desktop: false"));
});

test("a missing key is added", () => {
  expect(setConfig(file, "notify.webhook", "https://example.org")).toBe(`${file}  webhook: https://example.org\n`);
  expect(setConfig(file, "autostart", true)).toBe(`${file}autostart: true\n`);
});

test.each([
  ["", "model: opus\n"],
  ["# mine\n", "# mine\n\nmodel: opus\n"],
  ["{ model: x }\n", "{ model: opus }\n"],
])("a file with %j gets the key and nothing else", (text, changed) => {
  expect(setConfig(text, "model", "opus")).toBe(changed);
});

test.each(["", "notify:\n", "notify: {}\n", "notify: 7\n"])("a dotted key creates its map if %j has none", (text) => {
  const { config, problems } = readConfig(setConfig(text, "notify.desktop", "0"), "config.yml", "user");
  expect({ config, problems }).toEqual({ config: { notifyDesktop: false }, problems: [] });
});

test("text that looks like another type stays text", () => {
  expect(setConfig("", "model", "true")).toBe('model: "true"\n');
  expect(setConfig("", "model", "4")).toBe('model: "4"\n');
});

test("any text that is set is read back unchanged", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", file, "model: |\n  a\n", "{ model: 'x' }"),
      (model, text) => {
        const { config, problems } = readConfig(setConfig(text, "model", model), "config.yml", "user");
        expect(problems).toEqual([]);
        expect(config.model).toBe(model);
      },
    ),
  );
});

test("an invalid value in the file can be replaced by a valid one, even if other values are invalid", () => {
  expect(setConfig("pool_size: many\ncolour: red\n", "pool_size", 3)).toBe("pool_size: 3\ncolour: red\n");
});

describe("nothing is set where", () => {
  test.each([
    [
      "the key is unknown",
      "harnes",
      "codex",
      'There is no key "harnes" in a configuration.',
      'Did you mean "harness"?',
    ],
    ["the key leads to a map", "notify", "x", 'There is no key "notify" in a configuration.', "Known: "],
    [
      "the value is out of range",
      "pool_size",
      "0",
      '"pool_size" must be at least 1.',
      "pool_size: How many workspaces",
    ],
    ["the value has another type", "port", "http", '"port" must be a whole number, but is "http".', "port: The TCP"],
    ["the value is not an address", "notify.webhook", "nowhere", '"webhook" must be an http', "notify.webhook: The"],
  ])("%s", (_, key, value, message, hint) => {
    expect(() => setConfig(file, key, value)).toThrow(
      expect.objectContaining({
        code: "usage",
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    );
  });

  test("the key belongs to the user and the file to a repository", () => {
    expect(setConfig("", "model", "opus", "project")).toBe("model: opus\n");
    expect(() => setConfig("", "port", "1", "project")).toThrow(
      '"port" is not allowed in a repository\'s configuration.',
    );
  });

  test("the file is not valid YAML", () => {
    expect(() => setConfig("model: [\n", "model", "opus")).toThrow("This [ is never closed.");
    expect(() => setConfig("- model\n", "model", "opus")).toThrow(
      "The configuration must be a map of keys and values, such as harness: claude.",
    );
  });

  test.each([
    ["model: &m a\nharness: *m\n", "model"],
    ["model: &m a\nharness: *m\n", "harness"],
    ["notify: &n 7\nmodel: *n\n", "notify.webhook"],
    ["notify: { webhook: &w https://a.b }\nmodel: *w\n", "notify.webhook"],
  ])("%j shares the value with another key: %s", (text, key) => {
    expect(() => setConfig(text, key, "https://c.d")).toThrow(/is shared with another key/);
    expect(setConfig(text, "pool_size", "3")).toContain(text);
  });
});

test("a value inside a map is set under its names, and nothing else in the map changes", () => {
  const text = setConfig("model_tiers:\n  large: { claude: opus } # mine\n", "model_tiers.large.codex", "gpt-5.5");
  expect(text).toBe("model_tiers:\n  large: { claude: opus, codex: gpt-5.5 } # mine\n");
  expect(setConfig("", "model_tiers.small.opencode", "")).toBe('model_tiers:\n  small:\n    opencode: ""\n');
  // The name of a model can contain dots.
  expect(setConfig("", "model_fallback.gpt-5.5", "a, b")).toBe("model_fallback:\n  gpt-5.5:\n    - a\n    - b\n");
  expect(setConfig("", "model_tiers", "{ large: { claude: opus } }")).toBe(
    "model_tiers:\n  large:\n    claude: opus\n",
  );
});

test.each([
  ["model_tiers.large.codex", "small", '"model_tiers.large.codex" must name a model, but "small" is a tier.'],
  ["model_tiers.large.codex", "two words", "must be the name of a model"],
  ["model_tiers.large.codex.more", "x", 'There is no key "model_tiers.large.codex.more"'],
  ["model_tiers.gpt-4o.codex", "x", 'is another name of "large"'],
  ["model_tiers.large", "opus", "must be a map of models by harness"],
  ["harnesses.mine.title", "x", 'There is no key "harnesses.mine.title"'],
])("%s cannot be set to %s", (key, value, message) => {
  expect(() => setConfig("", key, value)).toThrow(message);
});
