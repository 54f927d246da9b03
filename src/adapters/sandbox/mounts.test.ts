import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { draftOf } from "../../durable-file.ts";
import type { SandboxPlan } from "../../ports/sandbox.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { type Mount, mountsOf } from "./mounts.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-mounts-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const at = (...names: readonly string[]) => join(base, ...names);
for (const name of ["home/.cargo/registry", "home/.box/runs/a", "work/.signalbox", "work/src", "caches/registry"])
  mkdirSync(at(...name.split("/")), { recursive: true });
for (const name of [
  "work/TASK.md",
  "work/package.json",
  "work/.signalbox/judge.md",
  "home/.cargo/credentials",
  "outside",
])
  writeFileSync(at(...name.split("/")), "text");

const plan: SandboxPlan = {
  ...{ argv: ["agent"], folder: at("work"), work: "write", home: at("home"), closed: at("home", ".box") },
  ...{ read: [], write: [], own: [], hidden: [], concealed: [], placed: [], network: "open", nests: false },
};
const kindAt = (mounts: readonly Mount[], path: string) => mounts.find((mount) => mount.at === path)?.kind;
const kindsOf = (change: Partial<SandboxPlan>) => {
  const mounts = mountsOf({ ...plan, ...change });
  return (...path: readonly string[]) => kindAt(mounts, at(...path));
};

test("a folder is mounted before what is in it", () => {
  const mounts = mountsOf({ ...plan, read: [at("home", ".box", "runs", "a"), at("home", ".cargo")] });
  const order = mounts.map((mount) => mount.at);
  for (const [i, path] of order.entries())
    expect(order.slice(0, i).filter((before) => before.startsWith(`${path}/`))).toEqual([]);
});

test("the home is empty and the closed folder is not writable, except for what the plan names", () => {
  const kind = kindsOf({ read: [at("home", ".box", "runs", "a")] });
  expect([kind("home"), kind("home", ".box"), kind("home", ".box", "runs", "a")]).toEqual(["empty", "closed", "read"]);
  expect(kind("outside")).toBeUndefined();
});

test("what does not exist is left out, and so is what the folder around it gives already", () => {
  const kind = kindsOf({ read: [at("nothing"), at("home", ".cargo"), at("home", ".cargo", "registry")] });
  expect([kind("nothing"), kind("home", ".cargo"), kind("home", ".cargo", "registry")]).toEqual([
    ...[undefined, "read", undefined],
  ]);
});

test("a folder is placed over one that exists, and not where it would have to be created in a mounted folder", () => {
  const from = at("caches", "registry");
  const kind = kindsOf({
    read: [at("home", ".cargo")],
    placed: [
      { from, at: at("home", ".cargo", "registry") },
      { from, at: at("home", ".cargo", "git") },
      { from, at: at("home", ".npm") },
    ],
  });
  expect([kind("home", ".cargo", "registry"), kind("home", ".cargo", "git"), kind("home", ".npm")]).toEqual([
    ...["write", undefined, "write"],
  ]);
});

test("a folder of the program's own is left out where it would have to be created in a read-only folder", () => {
  const own = [at("home", ".cargo", "tmp"), at("home", ".cargo", "registry"), at("home", ".local"), at("work", "tmp")];
  const kind = kindsOf({ read: [at("home", ".cargo")], own });
  expect(own.map((path) => kind(path.slice(base.length)))).toEqual([undefined, "empty", "empty", "empty"]);
});

test("what belongs to the system is mounted once, and its links stay links", () => {
  const mounts = mountsOf({ ...plan, read: ["/bin", "/usr/bin", "/etc/ssl"] });
  const plain = mountsOf(plan);
  expect(mounts).toEqual(plain);
});

test("a hidden file cannot be read, whatever is mounted around it", () => {
  const kind = kindsOf({ read: [at("home", ".cargo")], hidden: [at("home", ".cargo", "credentials")] });
  expect(kind("home", ".cargo", "credentials")).toBe("blank");
});

test("a concealed folder is empty where a folder around it is mounted, unless the plan names it; elsewhere nothing shows it", () => {
  for (const name of ["go/src/shop/cli", "go/src/other"]) mkdirSync(at("home", name), { recursive: true });
  const [go, shop, other] = [at("home", "go"), at("home", "go/src/shop"), at("home", "go/src/other")];
  const kind = kindsOf({ read: [go, other, join(shop, "cli")], concealed: [shop, other, at("outside"), "/usr"] });
  expect([kind("home", "go"), kind("home", "go/src/shop"), kind("home", "go/src/shop/cli")]).toEqual([
    ...["read", "closed", "read"],
  ]);
  expect([kind("home", "go/src/other"), kind("outside")]).toEqual([undefined, undefined]);
  expect(kindAt(mountsOf({ ...plan, concealed: ["/usr", "/usr/share"] }), "/usr/share")).toBe("closed");
  expect(kindAt(mountsOf({ ...plan, concealed: ["/usr", "/usr/share"] }), "/usr")).toBe("read");
});

test("a task file in a folder of its own opens that folder, and nothing else of the working folder", () => {
  const kind = kindsOf({ work: { files: [at("work", ".signalbox", "judge.md")] } });
  expect([kind("work"), kind("work", ".signalbox"), kind("work", "src")]).toEqual(["read", "write", undefined]);
});

test("a task file at the top leaves everything beside it read-only", () => {
  const kind = kindsOf({ work: { files: [at("work", "TASK.md")] } });
  expect([kind("work"), kind("work", "TASK.md")]).toEqual(["write", undefined]);
  for (const name of ["src", "package.json", ".signalbox"]) expect(kind("work", name)).toBe("read");
});

test("a draft of the task file is not mounted, because it can be gone when the program is started", () => {
  const drafts = [draftOf(at("work", "TASK.md")), draftOf(at("work", "TASK.md")).replace(".draft", "-before.draft")];
  const ofAnother = draftOf(at("work", "package.json"));
  for (const path of [...drafts, ofAnother]) writeFileSync(path, "text");
  const mounts = mountsOf({ ...plan, work: { files: [at("work", "TASK.md")] } });
  for (const path of drafts) expect(kindAt(mounts, path)).toBeUndefined();
  expect(kindAt(mounts, ofAnother)).toBe("read");
  for (const path of [...drafts, ofAnother]) rmSync(path);
});

test("a task file that is a link, or lies behind one, opens nothing", () => {
  symlinkSync(at("outside"), at("work", "LINK.md"));
  symlinkSync(at("home"), at("work", "behind"));
  const files = [at("work", "LINK.md"), at("work", "behind", ".cargo"), at("outside"), at("work", "..", "outside")];
  const kind = kindsOf({ work: { files } });
  expect(kind("work")).toBe("read");
  expect(mountsOf({ ...plan, work: { files } }).filter((mount) => mount.kind === "write")).toEqual([]);
});

test("a path that is a link is there under both of its names", () => {
  symlinkSync(at("home", ".cargo"), at("tools"));
  const kind = kindsOf({ read: [at("tools")] });
  expect([kind("tools"), kind("home", ".cargo")]).toEqual(["read", "read"]);
});

test("a link in a mounted folder is no mount point; what it leads to is there", () => {
  mkdirSync(at("home", "dotfiles", "rules", "deep"), { recursive: true });
  writeFileSync(at("home", "dotfiles", "settings.json"), "{}");
  mkdirSync(at("home", ".agent"));
  symlinkSync(at("home", "dotfiles", "settings.json"), at("home", ".agent", "settings.json"));
  symlinkSync(at("home", "dotfiles", "rules"), at("home", ".agent", "rules"));
  const kind = kindsOf({
    write: [at("home", ".agent")],
    read: [at("home", ".agent", "settings.json"), at("home", ".agent", "rules")],
    own: [at("home", ".agent", "rules", "deep")],
    placed: [{ from: at("caches", "registry"), at: at("home", ".agent", "rules") }],
  });
  expect([kind("home", ".agent"), kind("home", ".agent", "settings.json"), kind("home", ".agent", "rules")]).toEqual([
    ...["write", undefined, undefined],
  ]);
  expect(kind("home", ".agent", "rules", "deep")).toBeUndefined();
  expect([kind("home", "dotfiles", "settings.json"), kind("home", "dotfiles", "rules")]).toEqual(["read", "write"]);
  expect(kind("home", "dotfiles", "rules", "deep")).toBe("empty");
});

test("a program without the network has a network of its own, and one that nests may make namespaces", () => {
  const features = { forbidsNesting: true, isRoot: false };
  const given = (change: Partial<SandboxPlan>) => bubblewrapArguments([], { ...plan, ...change }, features);
  expect(given({})).not.toContain("--unshare-net");
  expect(given({})).toContain("--disable-userns");
  expect(given({ network: "closed" })).toContain("--unshare-net");
  expect(given({ nests: true })).not.toContain("--disable-userns");
  expect(given({}).slice(-2)).toEqual(["--", "agent"]);
});

test("a file with two names at the top of the working folder is opened only as what it is there", () => {
  linkSync(at("outside"), at("work", "TWICE.md"));
  // The folder around it is writable, so that the file can be replaced; its other name is not in the sandbox.
  const kind = kindsOf({ work: { files: [at("work", "TWICE.md")] } });
  expect([kind("work"), kind("outside")]).toEqual(["write", undefined]);
});
