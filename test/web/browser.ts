import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { removeFolder } from "../remove-folder.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Visitor {
  readonly page: Page;
  /** What the page has done that it must never do: ask another host, run a dialog, throw. */
  readonly misdeeds: readonly string[];
  goTo(path: string): Promise<void>;
}

/** Opens a browser of its own, with its own storage, for the page at an address. */
export async function openBrowser(
  address: string,
  size: Size = { width: 1280, height: 800 },
): Promise<Visitor & { close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), "signalbox-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(),
    headless: true,
    viewport: size,
    hasTouch: size.width < 500,
    args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  const close = async () => {
    await context.close();
    removeFolder(profile);
  };
  return { ...(await visit(context, address)), close };
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
