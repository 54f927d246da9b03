import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fenced, read, root } from "../documents.ts";
import { removeFolder } from "../remove-folder.ts";

const built = process.env.SIGNALBOX_BUILT ?? root;

test("the installed package needs only Node: its commands and both entries work, as docs/library.md says", () => {
  const base = mkdtempSync(join(tmpdir(), "signalbox-package-"));
  const [source, use, home, coffee] = ["source", "use", "home", "coffee"].map((name) => join(base, name)) as [
    ...[string, string, string, string],
  ];
  for (const folder of [source, use, coffee]) mkdirSync(folder);
  const { SIGNALBOX_BUILT: _, NODE_PATH: __, ...rest } = process.env;
  const env = {
    ...rest,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    SIGNALBOX_HOME: home,
    NO_COLOR: "1",
    npm_config_update_notifier: "false",
  };
  const run = (cwd: string, program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const signalbox = (...args: readonly string[]) => run(coffee, join(use, "node_modules/.bin/signalbox"), ...args);

  for (const name of ["workflows", "schema", "skills", "package.json", "README.md", "LICENSE"])
    cpSync(join(root, name), join(source, name), { recursive: true });
  cpSync(join(built, "dist"), join(source, "dist"), { recursive: true });
  const tarball = run(source, "npm", "pack", "--ignore-scripts", "--silent").trim();
  writeFileSync(join(use, "package.json"), '{ "private": true, "type": "module" }\n');
  run(use, "npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", join(source, tarball));

  expect(signalbox("--version")).toBe(`${JSON.parse(read("package.json")).version}\n`);
  expect(signalbox("workflow", "verify", "default")).toContain("default: proved");

  const document = read("docs/library.md");
  const examples = fenced(document, "ts").map((text, index) => ({ text, file: `example-${index}.ts` }));
  for (const { text, file } of examples) writeFileSync(join(use, file), text);
  // The declarations need no types of Node, and nothing that this repository has installed.
  writeFileSync(join(use, "console.d.ts"), "declare const console: { log(...all: unknown[]): void };\n");
  const compilerOptions = { target: "es2024", lib: ["es2024"], module: "nodenext", strict: true, types: [] };
  const consumer = { compilerOptions: { ...compilerOptions, skipLibCheck: false, noEmit: true }, include: ["*.ts"] };
  writeFileSync(join(use, "tsconfig.json"), JSON.stringify(consumer));
  run(use, join(root, "node_modules/.bin/tsc"), "--project", ".");

  run(coffee, "git", "init", "--quiet", "--initial-branch=main");
  const author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  run(coffee, "git", ...author, "commit", "--quiet", "--allow-empty", "--message=first");
  onTestFinished(() => {
    signalbox("down");
    removeFolder(base);
  });
  signalbox("project", "add", ".", "--name", "coffee", "--workflow", "classic", "--harness", "scripted");
  expect(examples.map(({ file }) => run(use, process.execPath, file))).toEqual(fenced(document, "text"));
});
