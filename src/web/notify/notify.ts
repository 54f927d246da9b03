import { type QueryClient, QueryObserver } from "@tanstack/react-query";
import { queries, type Row } from "../data/queries.ts";
import { waitingQuery } from "../tasks/waiting.ts";
import { visibleLine } from "../text/visible.ts";
import { type Need, needsToTell, rulesOf } from "./needs.ts";

const toldName = "signalbox.told";
const lockName = "signalbox.notify";
/** A tab has a lock with this name and the task's id while it can be seen and shows the task. */
const shownPrefix = "signalbox.shown.";
/** The newest keys are kept; older needs are over. */
const maxTold = 500;
/** How often quiet hours are looked at, in milliseconds. */
const quietInterval = 30_000;
/** More needs at once than these are one notification. */
const maxAtOnce = 3;
/** What began longer ago than this before the page was opened is in the inbox that the person has just seen. */
const oldAge = 60_000;

export interface NotifyPorts {
  readonly client: QueryClient;
  /** The task that this tab shows. */
  shownTask(): string | undefined;
  /** Calls back when it may show another one. Returns what ends that. */
  onShown(listener: () => void): () => void;
  open(task: string): void;
}

/**
 * Tells the person with notifications of the browser what needs them: once for each need, however many tabs are open, and not
 * while a tab that can be seen shows the task. Returns what ends it.
 */
export function notifyPerson({ client, shownTask, onShown, open }: NotifyPorts): () => void {
  const waiting = new QueryObserver(client, queries.tasks(waitingQuery(undefined)));
  const config = new QueryObserver(client, queries.config(undefined));
  const begunAt = Date.now();
  let isFirst = true;
  const look = () => {
    const { data } = waiting.getCurrentResult();
    const settings = config.getCurrentResult().data?.settings;
    if (data === undefined || settings === undefined) return;
    // Needs that quiet hours hold back count as old too: the person has the inbox before them.
    const old = isFirst ? allNeeds(data.tasks).filter(({ since }) => since < begunAt - oldAge) : [];
    isFirst = false;
    const known = readTold();
    const needs = needsToTell(data.tasks, rulesOf(settings), new Date());
    const isFresh = ({ key }: Need) => !known.has(key);
    if ([...old, ...needs].some(isFresh)) void tell(old.filter(isFresh), needs.filter(isFresh), open);
  };
  const ends = [waiting.subscribe(look), config.subscribe(look), holdShown(shownTask, onShown)];
  const timer = setInterval(look, quietInterval);
  look();
  return () => {
    for (const end of ends) end();
    clearInterval(timer);
  };
}

/** One tab at a time takes what nobody has told yet, and tells what no tab shows. */
async function tell(old: readonly Need[], needs: readonly Need[], open: (task: string) => void): Promise<void> {
  const take = async () => {
    const shown = await shownTasks();
    const told = readTold();
    const fresh = [...old, ...needs].filter(({ key }) => !told.has(key));
    writeTold([...told, ...fresh.map(({ key }) => key)]);
    return fresh.filter((need) => !old.some(({ key }) => key === need.key) && !shown.has(need.task));
  };
  const own = hasLocks() ? await navigator.locks.request(lockName, take) : await take();
  const [first] = own;
  if (first === undefined) return;
  if (own.length <= maxAtOnce) for (const need of own) show(need.title, need.text, need.key, () => open(need.task));
  else show(`${own.length} tasks need you`, own.map(({ title }) => title).join("\n"), "many", () => open(first.task));
}

/** Has the lock of the task that this tab shows, while the tab can be seen. Returns what ends it. */
function holdShown(shownTask: () => string | undefined, onShown: (listener: () => void) => () => void): () => void {
  if (!hasLocks()) return () => {};
  let held: string | undefined;
  let release = () => {};
  const hold = (task: string | undefined) => {
    if (task === held) return;
    release();
    held = task;
    if (task === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    release = resolve;
    void navigator.locks.request(shownPrefix + task, { mode: "shared" }, () => promise);
  };
  const look = () => hold(document.visibilityState === "visible" ? shownTask() : undefined);
  const end = onShown(look);
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    end();
    document.removeEventListener("visibilitychange", look);
    hold(undefined);
  };
}

/** The tasks that tabs of this browser show where they can be seen. */
async function shownTasks(): Promise<ReadonlySet<string>> {
  if (!hasLocks()) return new Set();
  const { held = [] } = await navigator.locks.query();
  const names = held.map(({ name = "" }) => name).filter((name) => name.startsWith(shownPrefix));
  return new Set(names.map((name) => name.slice(shownPrefix.length)));
}

/** Browsers have locks, and notifications, on https and on this machine only. */
function hasLocks(): boolean {
  return "locks" in navigator;
}

function show(title: string, text: string, tag: string, onClick: () => void): void {
  if (Notification.permission !== "granted") return;
  try {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? "";
    const notification = new Notification(visibleLine(title), { body: visibleLine(text), tag, icon });
    notification.onclick = () => {
      window.focus();
      notification.close();
      onClick();
    };
  } catch {
    // Browsers of phones show notifications of a service worker only. Chats and other channels reach phones.
  }
}

function allNeeds(rows: readonly Row[]): readonly Need[] {
  return needsToTell(rows, { quiet: "", reasons: [], urgent: [] }, new Date());
}

function readTold(): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(toldName) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : []);
  } catch {
    return new Set();
  }
}

function writeTold(keys: readonly string[]): void {
  try {
    localStorage.setItem(toldName, JSON.stringify(keys.slice(-maxTold)));
  } catch {
    // It is told again after a reload.
  }
}
