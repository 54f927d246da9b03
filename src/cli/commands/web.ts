import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { fromElsewhere, openBrowser } from "../open-browser.ts";
import { writeTable } from "../tables.ts";
import { count, writeJson, writeTime } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, textFlag } from "./parameters.ts";

const sessionForm = "{ id, at, expiresAt, address, browser, isOwn }";

export const web = command({
  parameters: {
    flags: {
      "no-open": flag("Only print the link"),
      sessions: flag("List the browsers that are signed in"),
      "sign-out": textFlag("all|ID", "Sign out all browsers, or one of those that --sessions lists"),
      close: flag("Sign out all browsers, and close the port that this command has opened"),
      json,
    },
  },
  docs: {
    brief: "Open the page in your browser, signed in",
    fullDescription: `Prints a link that signs one browser in, once, within a minute, and opens it in your browser unless you are connected by ssh or have no desktop. The browser stays signed in for 12 hours.

If no port is configured, the daemon chooses one on 127.0.0.1, and keeps it after a restart: signalbox config set port 4711 sets another. Nothing outside of this machine can connect to it. From another machine use ssh -L, or a tunnel or proxy of your own, whose address the daemon must know: signalbox config set web.address https://box.example.ts.net

--json: { link, publicLink, expiresAt, opened }, with --sessions { sessions: [${sessionForm}] }, with --sign-out { ended }, with --close { ended, address }
Exit codes: 0 ok, 1 no port can be opened, 2 wrong usage, 3 no such session`,
  },
  async func(flags): Promise<void> {
    const { sessions, close, "sign-out": signOut, json } = flags;
    const chosen = [sessions && "--sessions", close && "--close", signOut !== undefined && "--sign-out"].filter(
      Boolean,
    );
    if (chosen.length > 1)
      throw new Fault("usage", `${chosen.join(" and ")} cannot be given together.`, { hint: "Leave one of them out." });
    const call = createCall(this);
    if (sessions) return listSessions(this, call, json);
    if (signOut !== undefined) return endSessions(this, call, signOut, json);
    if (close) return closePort(this, call, json);
    const made = await call(routes.makeWebLink, { body: {} });
    const { link, publicLink } = made;
    const opened = !flags["no-open"] && (await openBrowser(link));
    if (json) return this.print(writeJson({ ...made, opened }));
    this.print(link);
    if (publicLink !== "") this.print(publicLink);
    const which = publicLink === "" ? "It signs" : "Either signs";
    const where = opened ? "Opened in your browser." : "Open the link in your browser.";
    this.say(`${where} ${which} one browser in, once, within a minute.`);
    if (!opened && publicLink === "") this.say(fromElsewhere(link));
  },
});

async function listSessions(context: Context, call: Call, json: boolean): Promise<void> {
  const answer = await call(routes.listWebSessions);
  if (json) return context.print(writeJson(answer));
  if (answer.sessions.length === 0) return context.say("No browser is signed in. To sign one in: signalbox web");
  const columns = [{ title: "ID", paint: context.paint.bold }, { title: "SINCE" }, { title: "UNTIL" }, { title: "AT" }];
  const rows = answer.sessions.map(({ id, at, expiresAt, address, browser }) => [
    ...[id, writeTime(at), writeTime(expiresAt), address],
    browser,
  ]);
  context.print(writeTable([...columns, { title: "BROWSER" }], rows, context.tableWidth));
  context.say("\nTo sign one out: signalbox web --sign-out ID");
}

async function endSessions(context: Context, call: Call, which: string, json: boolean): Promise<void> {
  const answer =
    which === "all"
      ? await call(routes.endWebSessions)
      : await call(routes.endWebSession, { params: { session: which } });
  if (json) return context.print(writeJson(answer));
  context.say(answer.ended === 0 ? "No browser was signed in." : `${count(answer.ended, "browser")} signed out.`);
}

async function closePort(context: Context, call: Call, json: boolean): Promise<void> {
  const answer = await call(routes.closeWeb);
  if (json) return context.print(writeJson(answer));
  const ended = answer.ended === 0 ? "No browser was signed in." : `${count(answer.ended, "browser")} signed out.`;
  const port =
    answer.address === ""
      ? "No port is open."
      : `The port stays open at http://${answer.address}, because it is configured: signalbox config set port 0`;
  context.say(`${ended} ${port}`);
}
