import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { queries } from "../data/queries.ts";
import { keyTable } from "../keys/key-table.ts";
import { listenToKeys, useKeys } from "../keys/use-keys.ts";
import { useWaiting } from "../tasks/waiting.ts";
import { Count } from "../ui/status.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { Banner } from "./banner.tsx";
import { places } from "./places.ts";
import { ProjectSwitch } from "./project-switch.tsx";
import { setTheme, themes, useTheme } from "./theme.ts";
import { useNotifications } from "./use-notifications.ts";

const Help = lazy(() => import("./help.tsx").then(({ Help }) => ({ default: Help })));
const Palette = lazy(() => import("./palette.tsx").then(({ Palette }) => ({ default: Palette })));
const CreateTask = lazy(() => import("./create-task.tsx").then(({ CreateTask }) => ({ default: CreateTask })));

type Opened = "help" | "palette" | "create" | undefined;

/** The frame around every screen: where to go, what the daemon says about itself, keys and dialogs. */
export function Shell() {
  const [opened, open] = useState<Opened>();
  const close = () => open(undefined);
  const navigate = useNavigate();
  const router = useRouter();
  const waiting = useWaiting();
  useEffect(listenToKeys, []);
  useNotifications();
  const goToWaiting = (step: 1 | -1) => {
    const ids = waiting.map(({ id }) => id);
    const { pathname, search } = router.state.location;
    const shown = /^\/tasks\/([^/]+)/.exec(pathname)?.[1] ?? (search as { task?: string }).task ?? "";
    const at = ids.indexOf(shown);
    const id = at === -1 ? ids[step === 1 ? 0 : ids.length - 1] : ids[(at + step + ids.length) % ids.length];
    if (id !== undefined) void navigate({ to: "/", search: { task: id } });
  };
  useKeys({
    ...Object.fromEntries(places.map(({ key, to }) => [key, () => void navigate({ to })])),
    "next-waiting": () => goToWaiting(1),
    "previous-waiting": () => goToWaiting(-1),
    search: () => open("palette"),
    palette: () => open("palette"),
    create: () => open("create"),
    help: () => open("help"),
    leave: () => router.history.back(),
  });
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-40 focus:bg-raised focus:p-2">
        Skip to the content
      </a>
      <Sidebar open={open} waiting={waiting.length} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Banner />
        <main id="content" className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </main>
      </div>
      <PhoneBar open={open} waiting={waiting.length} />
      <Toasts />
      <Suspense fallback={null}>
        {opened === "help" && <Help onClose={close} />}
        {opened === "palette" && (
          <Palette onClose={close} onCreate={() => open("create")} onHelp={() => open("help")} />
        )}
        {opened === "create" && <CreateTask onClose={close} />}
      </Suspense>
    </div>
  );
}

interface BarProps {
  open: (what: Opened) => void;
  waiting: number;
}

function Sidebar({ open, waiting }: BarProps) {
  const counts = useQuery(queries.counts);
  return (
    <nav aria-label="Places" className="hidden w-52 shrink-0 flex-col gap-3 border-r border-line bg-panel p-3 md:flex">
      <div className="flex items-center gap-2 px-1 font-semibold">
        <Lamp />
        Signalbox
      </div>
      <ProjectSwitch />
      <ul className="space-y-0.5">
        {places.map(({ to, title, icon, key }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: true, includeSearch: false }}
              className="flex items-center gap-2 rounded-md px-2 py-1 hover:bg-hover"
              activeProps={{ className: "bg-chosen font-semibold" }}
              title={keyTable.find(({ id }) => id === key)?.keys}
            >
              <Icon path={icon} />
              <span className="flex-1">{title}</span>
              {to === "/" ? (
                <Count of={waiting} isUrgent />
              ) : to === "/board" ? (
                <Count of={(counts.data?.all.running ?? 0) + (counts.data?.all.queued ?? 0)} />
              ) : null}
            </Link>
          </li>
        ))}
      </ul>
      <div className="mt-auto space-y-1 text-sm">
        <SideButton onClick={() => open("create")} keys="c">
          New task
        </SideButton>
        <SideButton onClick={() => open("palette")} keys="Ctrl K">
          Search
        </SideButton>
        <SideButton onClick={() => open("help")} keys="?">
          Keys
        </SideButton>
        <ThemeSwitch />
      </div>
    </nav>
  );
}

function SideButton({ onClick, keys, children }: { onClick: () => void; keys: string; children: string }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex w-full items-center justify-between rounded-md px-2 py-1 text-left text-muted hover:bg-hover hover:text-ink"
    >
      {children}
      <kbd className="font-mono text-xs">{keys}</kbd>
    </button>
  );
}

function ThemeSwitch() {
  const theme = useTheme();
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">Colours</legend>
      {themes.map((each) => (
        <label
          key={each}
          className="flex-1 cursor-pointer rounded px-1 text-center text-xs leading-6 text-muted has-checked:bg-chosen has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="theme"
            className="sr-only"
            checked={theme === each}
            onChange={() => setTheme(each)}
          />
          {each}
        </label>
      ))}
    </fieldset>
  );
}

/** Below the content, within reach of a thumb. */
function PhoneBar({ open, waiting }: BarProps) {
  return (
    <nav
      aria-label="Places"
      className="flex shrink-0 border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {places.slice(0, phonePlaces).map(({ to, title, icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          className="relative flex min-h-13 flex-1 flex-col items-center justify-center text-xs text-muted"
          activeProps={{ className: "text-accent font-semibold" }}
        >
          <Icon path={icon} />
          {title}
          {to === "/" && (
            <span className="absolute top-1 left-1/2 ml-2">
              <Count of={waiting} isUrgent />
            </span>
          )}
        </Link>
      ))}
      <button type="button" onClick={() => open("create")} className="min-h-13 flex-1 text-xs text-muted">
        <Icon path="M12 5v14M5 12h14" />
        New task
      </button>
      <button type="button" onClick={() => open("palette")} className="min-h-13 flex-1 text-xs text-muted">
        <Icon path="M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5" />
        Search
      </button>
      <button type="button" popoverTarget="more-places" className="min-h-13 flex-1 text-xs text-muted">
        <Icon path="M5 12h.01M12 12h.01M19 12h.01" />
        More
      </button>
      <ul
        id="more-places"
        popover="auto"
        className="fixed inset-auto right-2 bottom-16 min-w-52 rounded-lg border border-line bg-raised p-1 shadow-xl"
      >
        {places.slice(phonePlaces).map(({ to, title, icon }) => (
          <li key={to}>
            <Link
              to={to}
              onClick={(event) => event.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover()}
              className="flex min-h-11 items-center gap-3 rounded px-3 hover:bg-hover [&_svg]:mx-0"
              activeProps={{ className: "bg-chosen font-semibold" }}
            >
              <Icon path={icon} />
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** How many places have a button of their own on a phone. */
const phonePlaces = 2;

function Icon({ path }: { path: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      className="mx-auto size-5 fill-none stroke-current md:mx-0 md:size-4"
      strokeWidth="2"
    >
      <path d={path} strokeLinejoin="round" strokeLinecap="round" />
    </svg>
  );
}

function Lamp() {
  return (
    <svg aria-hidden="true" viewBox="0 0 12 28" className="h-6">
      <rect width="12" height="28" rx="6" className="fill-ink" />
      <circle cx="6" cy="6.5" r="3" fill="#e5484d" />
      <circle cx="6" cy="14" r="3" fill="#f5a524" />
      <circle cx="6" cy="21.5" r="3" fill="#30a46c" />
    </svg>
  );
}
