import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { configFromEnvironment, configValue, readConfig, setConfig, writeConfigValue } from "./config.ts";
import { configFields } from "./config-fields.ts";
import { homePlaces } from "./places.ts";
import { mayCount, readRepositoryConfig, trust } from "./trust.ts";
import { readPorts, readSize } from "./workspace-fields.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-fields-"));
afterAll(() => rmSync(base, { recursive: true }));

test("sizes and ranges of ports are read, and nothing else is", () => {
  expect(["512", "1KB", "1.5 MB", "50GB", "50gb"].map(readSize)).toEqual([
    512,
    1024,
    1.5 * 1024 ** 2,
    50 * 1024 ** 3,
    50 * 1024 ** 3,
  ]);
  expect(["", "GB", "-1GB", "1PB", "1e3", "99999999999TB"].map(readSize)).toEqual(Array(6).fill(undefined));
  expect(readPorts("20000-20999")).toEqual({ first: 20_000, last: 20_999 });
  expect(["", "20000", "80-90", "3000-2000", "60000-65536"].map(readPorts)).toEqual(Array(5).fill(undefined));
});

test("the environment of the process that starts the daemon cannot change what it runs", () => {
  expect(configFromEnvironment({ SIGNALBOX_TEST_COMMAND: "true", SIGNALBOX_KEEP: "x", SIGNALBOX_PORTS: "x" })).toEqual(
    {},
  );
});

test.each([
  ["npm,test", ["npm", "test"]],
  ['[sh, -c, "a, b"]', ["sh", "-c", "a, b"]],
  ["", []],
  ["make", ["make"]],
])("a list written as %j is %j, in files too", (written, list) => {
  expect(configValue(configFields.testCommand, written, "test_command")).toEqual(list);
  expect(configValue(configFields.testCommand, writeConfigValue(list), "test_command")).toEqual(list);
  expect(readConfig(setConfig("# mine\n", "test_command", written), "config.yml", "user").config).toEqual({
    testCommand: list,
  });
});

test.each(["setup", "teardown", "testCommand", "notifyCommand"] as const)("%s is written as one types it", (name) => {
  const field = configFields[name];
  expect(configValue(field, "pager --quick 'a b'", field.key)).toEqual(["pager", "--quick", "a b"]);
  for (const text of ["echo hi > /tmp/x", "make&&true"])
    expect(() => configValue(field, text, field.key)).toThrow(`"${field.key}" is run without a shell`);
});

test.each([
  ["keep: [a/b]", 'must have names of folders, but has "a/b"'],
  ["copy: [../secrets]", 'must name files inside the repository, relative to its root, but has "../secrets"'],
  ["link: [/etc/passwd]", 'must name files inside the repository, relative to its root, but has "/etc/passwd"'],
  ["setup: make setup", '"setup" must be a list'],
  ['test_command: [""]', '"test_command" must begin with a program.'],
  ["setup_timeout: soon", '"setup_timeout" must be a time such as'],
  ["test_timeout: 0", '"test_timeout" must be a time such as'],
  ["ports: 80-90", '"ports" must be a range'],
  ["disk_limit: much", '"disk_limit" must be a size'],
])("%s is refused", (text, message) => {
  expect(readConfig(text, "config.yml", "user").problems.map((problem) => problem.message)).toEqual([
    expect.stringContaining(message),
  ]);
});

test("a repository's file with commands takes effect once its exact text is trusted", () => {
  const [home, repository] = [join(base, "home"), join(base, "app")];
  const file = join(repository, ".signalbox", "config.yml");
  mkdirSync(home);
  mkdirSync(join(repository, ".signalbox"), { recursive: true });
  const places = homePlaces(home);
  const read = (text: string) => {
    writeFileSync(file, text);
    const found = readRepositoryConfig(home, repository);
    if (found === undefined) throw new Error("It must be there.");
    return found;
  };
  expect(mayCount(read("keep: [vendor]\n"), places)).toBe(true);
  // An empty list overrides the user's command.
  expect(read("test_command: []\n").commands).toEqual(["test_command"]);
  const first = read("setup: [make]\n");
  expect(mayCount(first, places)).toBe(false);
  trust(places, first.hash, "");
  expect(mayCount(read("setup: [make]\n"), places)).toBe(true);
  expect(mayCount(read("setup: [make, all]\n"), places)).toBe(false);
  expect(() => read("disk_limit: 1GB\n")).toThrow('"disk_limit" is not allowed in a repository');
});
