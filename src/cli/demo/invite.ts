import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { shellWord } from "../../shell-quote.ts";
import type { Context } from "../context.ts";
import { fromElsewhere, openBrowser } from "../open-browser.ts";
import { ownCommand } from "../start-daemon.ts";
import type { Stage } from "./stage.ts";

/** Opens the page for the person who plays the demo, and says what they can do there. */
export async function invite(context: Context, { home }: Stage, call: Call): Promise<void> {
  const { link } = await call(routes.makeWebLink, { body: {} });
  const opened = await openBrowser(link);
  const another = `SIGNALBOX_HOME=${shellWord(home)} ${ownCommand(context.process.env?.PATH)} web`;
  const lines = [
    opened ? "The page is opened in your browser." : "Open this link in your browser.",
    `It signs one browser in, once, within a minute: ${link}`,
    `For another link: ${another}`,
    ...(opened ? [] : [fromElsewhere(link)]),
    "",
    "You are the person. Four tasks come to the inbox of the page:",
    "  #3 asks a question: choose it with j, press a, write an answer, and send it with Ctrl+Enter",
    "  each one that its reviewer has passed: choose it, press d to look at its changes, then m to merge it",
    "? shows the keys, and everything works with a mouse or a finger too. Ctrl-C ends the demo.",
  ];
  context.say(`${lines.join("\n")}\n`);
}
