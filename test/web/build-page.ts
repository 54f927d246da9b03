import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildPage, isPageCurrent } from "../../scripts/page.ts";
import { root } from "../documents.ts";

/** Global setup: puts the page beside the programs that tests start. One that `npm run build` has built is taken if it is current. */
export default async function buildPageForTests(): Promise<void> {
  const page = join(process.env.SIGNALBOX_BUILT ?? root, "dist/web");
  const built = join(root, "dist/web");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  if (isPageCurrent(page)) return;
  if (isPageCurrent(built)) cpSync(built, page, { recursive: true, preserveTimestamps: true });
  else await buildPage(page, version);
}
