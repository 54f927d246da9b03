import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { homePlaces } from "../../src/home/places.ts";
import { eventually } from "../agents/stage.ts";
import { createAsk } from "../faults/daemon.ts";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";
import { openBrowser, type Size, type Visitor } from "./browser.ts";

/** Starts the demo for a person with a browser. */
export async function startDemo() {
  const { close, ...demo } = await openDemo();
  onTestFinished(close);
  return {
    ...demo,
    /** Opens a browser, the first one with the link that the demo has printed. */
    async browser(size?: Size, own = demo.firstLink): Promise<Visitor> {
      const visitor = await openBrowser(new URL(own).origin, size);
      onTestFinished(visitor.close);
      await visitor.page.goto(own);
      await visitor.page.getByRole("navigation", { name: "Places" }).filter({ visible: true }).waitFor();
      return visitor;
    },
  };
}

/** Starts the demo for a person who has no browser yet, and maybe only a terminal. The caller closes it. */
export async function openDemo() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-person-")));
  const temporary = join(base, "tmp");
  mkdirSync(temporary);
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: base, TMPDIR: temporary },
    // Nothing is opened for a person who is connected by ssh.
    ...{ SSH_CONNECTION: "tests", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" },
  };
  const child = spawn(process.execPath, [cliFile, "demo", "--web"], { env, cwd: base });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const close = async () => {
    child.kill("SIGINT");
    await ended;
    removeFolder(base);
  };
  const saying = (what: RegExp) =>
    eventually(
      async () => what.exec(said)?.[0],
      60_000,
      async () => said,
    );
  const firstLink = await saying(/http:\/\/127\.0\.0\.1:\d+\/#sign-in=\w+/).catch(async (error) => {
    await close();
    throw error;
  });
  const [folder = ""] = readdirSync(temporary).filter((name) => name.startsWith("signalbox-demo-"));
  const [home, repository] = [join(temporary, folder, "home"), join(temporary, folder, "coffee")];
  const call = createAsk({ places: homePlaces(home) } as Parameters<typeof createAsk>[0]);
  return {
    ...{ base, env, home, repository, saying, firstLink, close },
    link: async () => (await call(routes.makeWebLink, { body: {} })).link,
    async killDaemon() {
      process.kill((await call(routes.status)).pid, "SIGKILL");
    },
    merged: () =>
      execFileSync("git", ["-C", repository, "rev-list", "--count", "--merges", "main"], { encoding: "utf8" }).trim(),
    /** Presses Ctrl-C; resolves with the exit code, once nothing of the demo is left. */
    async interrupt() {
      child.kill("SIGINT");
      const code = await ended;
      const left = readdirSync(temporary).filter((name) => name.startsWith("signalbox-"));
      return left.length === 0 ? code : left;
    },
  };
}
