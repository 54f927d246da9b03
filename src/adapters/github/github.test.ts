import { expect, test } from "vitest";
import { readRemote } from "./github.ts";

const coffee = { host: "github.com", owner: "acme", name: "coffee" };

test.each([
  "https://github.com/acme/coffee",
  "https://github.com/acme/coffee.git",
  "https://github.com/acme/coffee/",
  "https://GitHub.com/acme/coffee.git/",
  "http://www.github.com/acme/coffee",
  "git@github.com:acme/coffee.git",
  "git@github.com:acme/coffee",
  "git@github.com:/acme/coffee.git",
  "github.com:acme/coffee.git",
  "org-123@github.com:acme/coffee.git",
  "ssh://git@github.com/acme/coffee.git",
  "ssh://git@github.com:22/acme/coffee",
  "ssh://git@ssh.github.com:443/acme/coffee.git",
  "git+ssh://git@github.com/acme/coffee.git",
  "git://github.com/acme/coffee.git",
  "  https://github.com/acme/coffee.git\n",
])("%j is a repository on GitHub", (address) => {
  expect(readRemote(address)).toEqual(coffee);
});

test("names may contain dots, dashes and underscores, and end with .git", () => {
  expect(readRemote("git@github.com:a-b_c/x.y-z_1.git.git")).toEqual({
    ...{ host: "github.com", owner: "a-b_c", name: "x.y-z_1.git" },
  });
});

test.each([
  ["https://git.example.org:8443/acme/coffee.git", "git.example.org:8443"],
  ["ssh://git@git.example.org:2222/acme/coffee.git", "git.example.org"],
  ["git@git.example.org:acme/coffee.git", "git.example.org"],
  ["https://acme.ghe.com/acme/coffee", "acme.ghe.com"],
])("%s is on a GitHub Enterprise server", (address, host) => {
  expect(readRemote(address)).toEqual({ ...coffee, host });
});

test.each([
  "https://me:ghp_hunter2@github.com/acme/coffee.git",
  "https://ghp_hunter2@github.com/acme/coffee",
  "https://x-access-token:ghp_hunter2@github.com/acme/coffee",
  "ssh://git:ghp_hunter2@github.com/acme/coffee.git",
  "ghp_hunter2@github.com:acme/coffee",
  "https://github.com/acme/coffee.git?token=ghp_hunter2#ghp_hunter2",
])("credentials in the address are dropped: %s", (address) => {
  expect(readRemote(address)).toEqual(coffee);
});

test.each([
  "",
  "/srv/git/coffee.git",
  "../coffee",
  "./acme/coffee",
  "C:\\git\\coffee",
  "C:/acme/coffee",
  "file:///srv/acme/coffee.git",
  "ftp://github.com/acme/coffee",
  "https://github.com/acme",
  "https://github.com/acme/coffee/tree/main",
  "https://github.com/acme/..",
  "https://github.com/acme/.git",
  "https://github.com/ac me/coffee",
  "https://github.com/acme/cof%2Ffee",
  "git@github.com:coffee.git",
  "git@github.com:a/b/c.git",
  "git@github.com:acme/$(id).git",
  "git@github.com:acme/...",
  "https://",
  "-oProxyCommand=id:acme/coffee",
])("%j is not a repository on a forge", (address) => {
  expect(readRemote(address)).toBeUndefined();
});
