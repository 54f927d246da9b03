import { useQuery } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { queries } from "../data/queries.ts";
import { isNotifying, onNotifying, setNotifying } from "../notify/switch.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Plain } from "../ui/text.tsx";

/** When this browser calls, and which other channels there are. The browser is asked only after a click. */
export function NotificationsPart() {
  const { data: status } = useQuery(queries.status);
  const isOn = useSyncExternalStore(onNotifying, isNotifying);
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "missing"));
  const allow = async () => {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    setNotifying(answer === "granted");
  };
  const works = isOn && permission === "granted";
  return (
    <div className="max-w-2xl space-y-4 p-4">
      <section aria-label="This browser" className="space-y-2 rounded-lg border border-line bg-panel px-4 py-3">
        <h2 className="font-semibold">This browser</h2>
        <p>
          It tells you once when a task needs you, while a tab of this page is open and does not show that task. A click
          on the notification opens the task.
        </p>
        {permission === "missing" && <p className="text-warn">This browser has no notifications for pages.</p>}
        {permission === "denied" && (
          <p className="text-warn">
            The browser refuses notifications of this page. Allow them in the settings of the browser for this address.
          </p>
        )}
        <div className="flex items-center gap-3">
          {works ? (
            <Button onClick={() => setNotifying(false)}>Switch off</Button>
          ) : (
            <Button
              look="main"
              disabled={permission === "missing" || permission === "denied"}
              onClick={() => void allow()}
            >
              Notify me here
            </Button>
          )}
          <span role="status" className={works ? "text-good" : "text-muted"}>
            {works ? "It is on." : "It is off."}
          </span>
        </div>
      </section>
      <section aria-label="Quiet hours" className="space-y-2 rounded-lg border border-line bg-panel px-4 py-3">
        <h2 className="font-semibold">Quiet hours</h2>
        <p>
          {status === undefined || status.calls.quiet === ""
            ? "There are none: you are called at any time."
            : `From ${visibleLine(status.calls.quiet).replace("-", " to ")} you are called for urgent reasons only. The others come when that is over.`}
        </p>
        <Command text="signalbox config set notify.quiet 22:00-07:00" />
      </section>
      <section aria-label="Other channels" className="space-y-2 rounded-lg border border-line bg-panel px-4 py-3">
        <h2 className="font-semibold">Other channels</h2>
        {status?.calls.channels.length === 0 && <p className="text-muted">There is none.</p>}
        <ul className="space-y-1">
          {status?.calls.channels.map(({ name, problem, undelivered }) => (
            <li key={name}>
              <span className="font-medium">{visibleLine(name)}</span>{" "}
              {problem === "" ? (
                <span className="text-good">works</span>
              ) : (
                <Plain text={problem} className="text-bad" />
              )}
              {undelivered.length > 0 && (
                <span className="text-sm text-muted"> not delivered: {undelivered.map(visibleLine).join(", ")}</span>
              )}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
