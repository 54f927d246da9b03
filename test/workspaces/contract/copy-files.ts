import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CopiedFiles } from "../../../src/ports/workspaces.ts";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName, statusOf } from "../stage.ts";

export function copyContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "copy");
  const names = (files: CopiedFiles) =>
    Object.fromEntries(
      Object.entries(files).map(([key, list]) => [key, list.map((file: { text: string }) => file.text).sort()]),
    );

  async function openWithFiles() {
    const scene = await open();
    const base = scene.user.commit({ ".gitignore": ".env*\ncerts/\n*.local\n", "tracked.local.md": "tracked\n" });
    await scene.control.syncFrom({ from: scene.user.folder, name: "user" });
    for (const file of [".env", ".env.test", "certs/a.pem", "certs/deep/b.pem", "folder/x.local", "untracked.txt"]) {
      scene.user.write(file, `${file}\n`);
    }
    await scene.prepare({ base });
    return scene;
  }

  test("untracked files are copied by their patterns, with their permissions", async () => {
    const { at, folder, kind, user } = await openWithFiles();
    chmodSync(join(user.folder, ".env"), 0o600);
    const patterns = [".env*", "certs", "**/*.local", "untracked.txt", "nothing-like-this"];
    const copied = [".env", ".env.test", "certs/a.pem", "certs/deep/b.pem", "folder/x.local", "untracked.txt"];
    const order = { folder, patterns, how: "copy" } as const;
    expect(names(await kind.copyFiles(order))).toEqual({ copied, kept: [], refused: [] });
    for (const file of copied) expect(at().read(file)).toBe(`${file}\n`);
    expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
    expect(statusOf(at())).toBe("?? untracked.txt");
    at().write(".env", "the agent's own\n");
    expect(names(await kind.copyFiles(order))).toEqual({ copied: [], kept: copied, refused: [] });
    expect(at().read(".env")).toBe("the agent's own\n");
  });

  test("untracked files can be linked instead of copied", async () => {
    const { folder, kind, user } = await openWithFiles();
    await kind.copyFiles({ folder, patterns: [".env", "certs"], how: "link" });
    expect(readlinkSync(join(folder, ".env"))).toBe(join(user.folder, ".env"));
    expect(lstatSync(join(folder, "certs")).isDirectory()).toBe(true);
    expect(readFileSync(join(folder, "certs/a.pem"), "utf8")).toBe("certs/a.pem\n");
  });

  test("tracked files are neither copied nor overwritten", async () => {
    const { at, folder, kind, user, control, prepare } = await openWithFiles();
    user.write("tracked.local.md", "the user's change\n");
    expect(names(await kind.copyFiles({ folder, patterns: ["*.md", "a.txt"], how: "copy" })).copied).toEqual([]);
    expect(at().read("tracked.local.md")).toBe("tracked\n");
    // Another commit tracks a file that the user's checkout ignores.
    user.git("checkout", "--quiet", "-b", "with-env");
    user.git("add", "--force", ".env");
    const base = user.commit({});
    user.git("checkout", "--quiet", "main");
    user.write(".env", "secret\n");
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ branch: "next", base, salvaged: true });
    const order = { folder, patterns: [".env"], how: "copy" } as const;
    expect(names(await kind.copyFiles(order))).toEqual({ copied: [], kept: [], refused: [".env"] });
    expect(at().read(".env")).toBe(".env\n");
  });

  test("no pattern, link or device leads out of the repository or the workspace", async () => {
    const { folder, kind, user } = await openWithFiles();
    const outside = stage.path("outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret"), "secret\n");
    for (const pattern of ["../x", "/etc/passwd", "a/../../x", "", ".git/config", ".git", "a\0b"]) {
      expect((await faultOf(kind.copyFiles({ folder, patterns: [pattern], how: "copy" }))).code).toBe(
        "workspace.bad-pattern",
      );
    }
    symlinkSync(join(outside, "secret"), join(user.folder, "out.local"));
    symlinkSync(join(user.folder, ".env"), join(user.folder, "in.local"));
    symlinkSync(outside, join(user.folder, "folder.local"));
    execFileSync("mkfifo", [join(user.folder, "fifo.local")]);
    symlinkSync(outside, join(folder, "certs"));
    expect(names(await kind.copyFiles({ folder, patterns: ["*.local", "certs"], how: "copy" }))).toMatchObject({
      copied: ["in.local"],
      refused: ["certs/a.pem", "certs/deep/b.pem", "folder.local", "out.local"],
    });
    expect(existsSync(join(outside, "a.pem"))).toBe(false);
    expect(lstatSync(join(folder, "in.local")).isFile()).toBe(true);
  });

  test("patterns are never read as options or pathspec magic", async () => {
    const { folder, kind, user } = await openWithFiles();
    user.write("--output=x", "1");
    user.write(":(exclude)y", "2");
    const result = await kind.copyFiles({ folder, patterns: ["--output=x", ":(exclude)y"], how: "copy" });
    expect(names(result).copied).toEqual(["--output=x", ":(exclude)y"]);
    expect(names(await kind.copyFiles({ folder, patterns: [], how: "copy" }))).toEqual({
      copied: [],
      kept: [],
      refused: [],
    });
  });
}
