import { execFile } from "node:child_process";
import { pathOf } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/tasks.ts";
import { loadConfig } from "../../home/config.ts";
import { homePlaces, packageVersion } from "../../home/places.ts";
import { editText } from "../ask.ts";
import { createCall, createOnlooker, followStream } from "../connect.ts";
import type { Context } from "../context.ts";
import { describeEvent, writeEvent } from "../describe-event.ts";
import { requestOf } from "../fast/ask-daemon.ts";
import { projectNamed } from "../find.ts";
import { runInTerminal } from "../screen.ts";
import { command } from "./command.ts";
import { followEvents } from "./events.ts";
import { flag, onlyProject } from "./parameters.ts";

export const dashboard = command({
  parameters: {
    flags: {
      project: onlyProject,
      plain: flag("Print events as lines, the last ones first, instead of a full screen"),
      mouse: flag("Scroll with the wheel and choose with a click; the terminal's own selection then needs Shift"),
    },
  },
  docs: {
    brief: "Show all tasks on a full screen: watch, answer, review and merge with keys",
    fullDescription: `Closing it never stops work. ? shows every key, q quits. Tasks are in groups: those that need you, those that run, those that wait for their turn, and those that are over. The bottom line has the keys of the task under the cursor; each does what the command does that is shown with it. What cannot be undone easily asks first, and only y does it.

On a pipe, with TERM=dumb or with --plain it prints events as signalbox events --follow does. The terminal must have 80 columns and 24 rows. NO_COLOR is respected. Keys are changed in the configuration: signalbox config set dashboard.keys.approve Y

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func({ project, plain, mouse }) {
    if (project !== undefined) projectNamed((await createCall(this)(routes.listProjects)).projects, project);
    if (plain || !canShowDashboard(this)) return showPlain(this, project);
    return openDashboard(this, project, mouse);
  },
});

/** Whether there is a terminal that can show a full screen, with a keyboard. */
export function canShowDashboard({ process: { env = {} } }: Context): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && env.TERM !== "dumb";
}

/** Shows the dashboard until the person leaves. */
export async function openDashboard(context: Context, project: string | undefined, hasMouse = false): Promise<void> {
  const env = (context.process as NodeJS.Process).env;
  const { config } = loadConfig(homePlaces(context.home).config, "user");
  // Loaded lazily: no other command needs them.
  const [{ runDashboard }, { looksOf }, { WebSocket }] = await Promise.all([
    import("../../tui/dashboard.ts"),
    import("../../tui/style.ts"),
    import("ws"),
  ]);
  const asker = { places: homePlaces(context.home), env, folder: process.cwd(), version: packageVersion };
  const quiet = { ...context, say: () => {} };
  // Without a daemon, the first request starts one, and says what is wrong on the ordinary screen.
  await createCall(context)(routes.health);
  const ending = new AbortController();
  const program = [process.execPath, process.argv[1] ?? ""] as const;
  const signal = await runDashboard(
    {
      call: createOnlooker(quiet, ending.signal),
      describe: describeEvent,
      follow: (listener, until) => followStream(quiet, { live: "true" }, listener.onEvent, until, listener),
      openTerminal(task) {
        const { socket, headers } = requestOf(asker, {
          method: "GET",
          path: pathOf(routes.watchTerminal, { params: { task } }),
          body: undefined,
        });
        return new WebSocket(`ws+unix:${socket}:${pathOf(routes.watchTerminal, { params: { task } })}`, {
          headers,
        }) as never;
      },
      runHere: async (words) => ((await runInTerminal([...program, ...words], {})) === undefined ? 0 : 1),
      offers: (words) =>
        new Promise((resolve) => {
          const [file, ...args] = [...program, "complete", "--", ...words];
          execFile(file, args, (error, stdout) => resolve(error === null ? stdout.split("\n").filter(Boolean) : []));
        }),
      async edit(text) {
        const draft = await editText(context, text, "message.md", "write it in one line").catch(() => undefined);
        draft?.remove();
        return draft?.text;
      },
    },
    {
      project,
      hasMouse,
      looks: looksOf(env, process.stdout.getColorDepth(env)),
      rings: config.dashboardBell ?? true,
      keys: config.dashboardKeys ?? {},
    },
  ).finally(() => ending.abort());
  // The signal ends us as it would have without a dashboard.
  if (signal !== undefined) process.kill(process.pid, signal);
  // Requests that wait for a daemon do not keep us.
  else process.exit();
}

/** How many events from before are printed. */
const before = "20";

async function showPlain(context: Context, project: string | undefined): Promise<void> {
  const query = project === undefined ? {} : { project };
  const { events } = await createCall(context)(routes.listEvents, {
    query: { ...query, before: "end", limit: before },
  });
  const tell = (event: EventView) => context.print(writeEvent(event, context, true));
  const missed = [...events].sort((a, b) => a.position - b.position);
  for (const event of missed) tell(event);
  const last = missed.at(-1)?.position;
  await followEvents(context, { ...query, ...(last === undefined ? {} : { after: String(last) }) }, tell);
}
