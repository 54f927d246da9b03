import { homedir } from "node:os";
import { expect, test } from "vitest";
import { commandWords } from "./config-fields.ts";

test.each([
  ["python3 -m unittest", ["python3", "-m", "unittest"]],
  ["npm", ["npm"]],
  ["pytest -k 'a or b' --x=\"1 2\"", ["pytest", "-k", "a or b", "--x=1 2"]],
  ["sh -c 'a && b'", ["sh", "-c", "a && b"]],
  ["  ", []],
  ["~/pager.sh --to ~/log '~/x' a~/b", [`${homedir()}/pager.sh`, "--to", `${homedir()}/log`, "~/x", "a~/b"]],
])("%j is split into arguments like in a shell", (text, words) => {
  expect(commandWords(text, "setup")).toEqual(words);
});

test.each(["npm ci && npm test", "make test | tee log", "echo $HOME", "pytest 'open"])("%j needs a shell", (text) => {
  expect(() => commandWords(text, "test_command")).toThrow(/without a shell/);
});
