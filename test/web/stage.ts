import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { routes } from "../../src/api/routes.ts";
import { openStage, type StageOptions } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { removeFolder } from "../remove-folder.ts";

export type WebStage = Awaited<ReturnType<typeof openWebStage>>;

/** A real daemon with scripted agents, and browsers that show its page. */
export async function openWebStage(options: StageOptions = {}) {
  const port = await freePort();
  const stage = await openStage({ ...options, config: `port: ${port}\n${options.config ?? ""}` });
  const server = await servePage(port, () => readFileSync(stage.places.humanToken, "utf8").trim());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = new Set<() => Promise<void>>();
  return {
    ...stage,
    address,
    /** Opens a browser of its own, with its own storage. */
    async browser(size = { width: 1280, height: 800 }): Promise<Visitor> {
      const profile = mkdtempSync(join(tmpdir(), "signalbox-browser-"));
      const context = await chromium.launchPersistentContext(profile, {
        executablePath: findChromium(),
        headless: true,
        viewport: size,
        hasTouch: size.width < 500,
        args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
      });
      open.add(async () => {
        await context.close();
        removeFolder(profile);
      });
      return visit(context, address);
    },
    async question(id: string) {
      const { questions } = await stage.call(routes.listQuestions, { query: { task: id } });
      return questions[0];
    },
    async close() {
      for (const each of open) await each();
      server.closeAllConnections();
      server.close();
      await stage.close();
    },
  };
}

export interface Visitor {
  readonly page: Page;
  /** What the page has done that it must never do: ask another host, run a dialog, throw. */
  readonly misdeeds: readonly string[];
  goTo(path: string): Promise<void>;
}

async function visit(context: BrowserContext, address: string): Promise<Visitor> {
  const page = context.pages()[0] ?? (await context.newPage());
  const misdeeds: string[] = [];
  context.on("request", (each) => {
    if (!each.url().startsWith(`${address}/`)) misdeeds.push(`asked ${each.url()}`);
  });
  page.on("dialog", (dialog) => {
    misdeeds.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => misdeeds.push(`threw ${error.message}`));
  return { page, misdeeds, goTo: async (path) => void (await page.goto(address + path)) };
}

/** Debian's name first. Setup for tests installs it. */
function findChromium(): string {
  const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (found === undefined) throw new Error("Chromium is missing. Install it: apt-get install chromium");
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** Serves the built page, and passes requests on to the daemon as a person's. */
async function servePage(port: number, token: () => string): Promise<Server> {
  const folder = join(process.env.SIGNALBOX_BUILT ?? root, "dist/web");
  const server = createServer((asked, answer) => {
    const path = (asked.url ?? "/").split("?")[0] ?? "/";
    if (path.startsWith("/v1/")) {
      const { origin: _, ...headers } = asked.headers;
      const passed = request(
        {
          ...{ host: "127.0.0.1", port, path: asked.url, method: asked.method },
          headers: { ...headers, host: `127.0.0.1:${port}`, authorization: `Bearer ${token()}` },
        },
        (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer);
          response.on("close", () => answer.destroy());
        },
      );
      // As if the page's own daemon were gone.
      passed.on("error", () => answer.destroy());
      answer.on("close", () => passed.destroy());
      asked.pipe(passed);
      return;
    }
    const file = join(folder, path);
    const isFile = file.startsWith(folder) && existsSync(file) && statSync(file).isFile();
    const shown = isFile ? file : join(folder, "index.html");
    answer.writeHead(200, {
      "content-type": types[extname(shown)] ?? "application/octet-stream",
      "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    });
    answer.end(readFileSync(shown));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}
