import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { routes } from "../../api/routes.ts";
import { call, problemsOf } from "../data/client.ts";
import { setDaemonState, useCanAct } from "../data/daemon-state.ts";
import { keepKey } from "../data/page-key.ts";
import { queries } from "../data/queries.ts";
import { localTime } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded } from "../ui/states.tsx";
import { Ago } from "../ui/text.tsx";
import { tellPerson } from "../ui/toasts.tsx";

/** The browsers that are signed in, each with a button that signs it out. */
export function BrowsersPart() {
  const sessions = useQuery(queries.webSessions);
  const client = useQueryClient();
  const canAct = useCanAct();
  const [isBusy, setBusy] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const end = async (session: string, isOwn: boolean) => {
    setBusy(true);
    try {
      if (session === "all") await call(routes.endWebSessions);
      else await call(routes.endWebSession, { params: { session } });
      if (isOwn) {
        keepKey("");
        setDaemonState({ isSignedOut: true });
      } else tellPerson("That browser is signed out.", `signalbox web --sign-out ${session}`);
    } catch (error) {
      const [problem] = problemsOf(error);
      tellPerson(`${problem?.text ?? ""} ${problem?.fix ?? ""}`, "", "bad");
    } finally {
      setBusy(false);
      setAsked(false);
      void client.invalidateQueries({ queryKey: ["web-sessions"] });
    }
  };
  return (
    <Loaded query={sessions} what="the browsers">
      {(all) => (
        <div className="space-y-3 p-4">
          <p className="text-muted">
            A browser stays signed in for 12 hours. To sign another one in, open the link that this command prints:
          </p>
          <Command text="signalbox web" />
          <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
            {all.map(({ id, browser, address, at, expiresAt, isOwn }) => (
              <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
                <div className="min-w-0 flex-1">
                  <p className="truncate font-medium" title={visibleLine(browser)}>
                    {shortBrowser(browser)}
                    {isOwn && (
                      <span className="ml-2 rounded bg-good-soft px-1.5 text-xs leading-5 text-good">this browser</span>
                    )}
                  </p>
                  <p className="text-sm text-muted">
                    {visibleLine(address)} · since <Ago iso={at} /> · until {localTime(expiresAt)}
                  </p>
                </div>
                <Button look="bad" disabled={!canAct || isBusy} onClick={() => void end(isOwn ? "own" : id, isOwn)}>
                  Sign out
                </Button>
              </li>
            ))}
          </ul>
          <Button look="bad" disabled={!canAct || isBusy} onClick={() => setAsked(true)}>
            Sign all browsers out …
          </Button>
          {isAsked && (
            <Dialog title="Sign all browsers out" onClose={() => setAsked(false)}>
              <div className="space-y-3">
                <p>This one too. Links that were not used yet become invalid. Agents continue.</p>
                <Command text="signalbox web --sign-out all" />
                <div className="flex justify-end gap-2">
                  <Button autoFocus onClick={() => setAsked(false)}>
                    Do nothing
                  </Button>
                  <Button look="bad" disabled={isBusy} onClick={() => void end("all", true)}>
                    Sign all out
                  </Button>
                </div>
              </div>
            </Dialog>
          )}
        </div>
      )}
    </Loaded>
  );
}

/** `Firefox 140 on Linux`, as well as what a browser calls itself tells. */
function shortBrowser(text: string): string {
  const [, name, version] =
    /(Edg|OPR|Firefox|HeadlessChrome|Chrome)\/(\d+)/.exec(text) ?? /(Safari)\/(\d+)/.exec(text) ?? [];
  const [system] = /Android|iPhone|iPad|Windows|Macintosh|Linux/.exec(text) ?? [];
  if (name === undefined) return visibleLine(text) || "A browser without a name";
  return [`${name} ${version}`, ...(system === undefined ? [] : [`on ${system}`])].join(" ");
}
