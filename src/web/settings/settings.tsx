import { useNavigate, useSearch } from "@tanstack/react-router";
import { useKeys } from "../keys/use-keys.ts";
import { type SettingsSearch, settingsParts } from "../search.ts";
import { BrowsersPart } from "./browsers-part.tsx";
import { ConfigPart } from "./config-part.tsx";
import { DoctorPart } from "./doctor-part.tsx";
import { NotificationsPart } from "./notifications-part.tsx";

type Part = (typeof settingsParts)[number];

const titles: Readonly<Record<Part, string>> = {
  configuration: "Configuration",
  doctor: "Doctor",
  browsers: "Browsers",
  notifications: "Notifications",
};

/** How Signalbox is set up: settings, what the doctor finds, who is signed in, and when this browser calls. */
export function Settings() {
  const search = useSearch({ from: "/settings" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/settings" });
  const { part = "configuration" } = search;
  const change = (next: { readonly [Name in keyof SettingsSearch]: SettingsSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as SettingsSearch, replace: true });
  const show = (next: Part) =>
    change({ part: next === "configuration" ? undefined : next, q: undefined, show: undefined });
  const step = (by: 1 | -1) => {
    const next = settingsParts[settingsParts.indexOf(part) + by];
    if (next !== undefined) show(next);
  };
  useKeys({ next: () => step(1), previous: () => step(-1) });
  return (
    <div className="flex h-full flex-col">
      <header className="shrink-0 border-b border-line bg-panel px-4 pt-2">
        <h1 className="font-semibold">Settings</h1>
        <nav aria-label="Parts of the settings" className="flex overflow-x-auto">
          {settingsParts.map((each) => (
            <button
              key={each}
              type="button"
              aria-current={each === part ? "page" : undefined}
              onClick={() => show(each)}
              className={`border-b-2 px-1.5 py-1.5 whitespace-nowrap md:px-2.5 pointer-coarse:min-h-11 ${each === part ? "border-accent font-semibold" : "border-transparent text-muted hover:text-ink"}`}
            >
              {titles[each]}
            </button>
          ))}
        </nav>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {part === "configuration" && (
          <ConfigPart
            project={project}
            words={search.q ?? ""}
            onlySet={search.show === "set"}
            onWords={(q) => change({ q: q === "" ? undefined : q })}
            onOnlySet={(isOn) => change({ show: isOn ? "set" : undefined })}
          />
        )}
        {part === "doctor" && (
          <DoctorPart
            onlyBad={search.show === "set"}
            onOnlyBad={(isOn) => change({ show: isOn ? "set" : undefined })}
          />
        )}
        {part === "browsers" && <BrowsersPart />}
        {part === "notifications" && <NotificationsPart />}
      </div>
    </div>
  );
}
