import { expect, test } from "vitest";
import { isNetworkRemote } from "./obeyed.ts";

test.each([
  "https://github.com/acme/coffee.git",
  "http://localhost:8080/coffee",
  "ssh://git@github.com:22/acme/coffee.git",
  "git://example.org/coffee",
  "git@github.com:acme/coffee.git",
  "work:acme/coffee.git",
  "https://[::1]/coffee",
])("the address %s cannot make git run anything", (address) => {
  expect(isNetworkRemote("remote.origin.url", address)).toBe(true);
  expect(isNetworkRemote("remote.origin.pushurl", address)).toBe(true);
});

test.each([
  "ext::sh -c 'touch ran'",
  "ext::sh",
  "fd::3",
  "helper::https://example.org/x",
  "/srv/coffee.git",
  "../coffee.git",
  "file:///srv/coffee.git",
  "FILE:///srv/coffee.git",
  "ssh://-oProxyCommand=touch/x",
  "-uploadpack=x",
  "git@github.com:acme/coffee.git\n/srv/x",
  "",
])("the address %j may make git run something", (address) => {
  expect(isNetworkRemote("remote.origin.url", address)).toBe(false);
});

test.each(["uploadpack", "receivepack", "vcs", "proxy", "promisor", "partialclonefilter", "push"])(
  "the setting %s of a remote is not an address",
  (name) => {
    expect(isNetworkRemote(`remote.origin.${name}`, "https://github.com/acme/coffee.git")).toBe(false);
  },
);

test("the branches of a remote cannot make git run anything, and settings of other sections are no remotes", () => {
  expect(isNetworkRemote("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")).toBe(true);
  expect(isNetworkRemote("url.ext::sh.insteadof", "https://github.com/")).toBe(false);
  expect(isNetworkRemote("core.sshcommand", "https://github.com/")).toBe(false);
});
