import { routes } from "../../src/api/routes.ts";
import { openStage, type StageOptions } from "../agents/stage.ts";
import { openBrowser, type Size, type Visitor } from "./browser.ts";

export type { Visitor } from "./browser.ts";
export type WebStage = Awaited<ReturnType<typeof openWebStage>>;

/** A real daemon with scripted agents, and browsers that show its page. */
export async function openWebStage(options: StageOptions = {}) {
  const stage = await openStage(options);
  /** Works once. */
  const link = async () => (await stage.call(routes.makeWebLink, { body: {} })).link;
  const { origin: address } = new URL(await link());
  const open = new Set<() => Promise<void>>();
  const launch = async (size?: Size): Promise<Visitor> => {
    const { close, ...visitor } = await openBrowser(address, size);
    open.add(close);
    return visitor;
  };
  return {
    ...stage,
    ...{ address, link },
    /** Opens a browser of its own, with its own storage, and signs it in. */
    async browser(size?: Size): Promise<Visitor> {
      const visitor = await launch(size);
      await visitor.page.goto(await link());
      await visitor.page.getByRole("navigation", { name: "Places" }).filter({ visible: true }).waitFor();
      return visitor;
    },
    /** Opens a browser that is not signed in. */
    stranger: () => launch(),
    async close() {
      for (const each of open) await each();
      await stage.close();
    },
  };
}
