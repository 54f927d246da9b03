import { type QueryClient, QueryObserver } from "@tanstack/react-query";
import { queries, type Row } from "../data/queries.ts";
import { waitingQuery } from "../tasks/waiting.ts";
import { visibleLine } from "../text/visible.ts";
import { type CallRules, itemsOf, type Need, needsToTell } from "./needs.ts";

const toldName = "signalbox.told";
const lockName = "signalbox.notify";
/** The newest keys are kept; older needs are over. */
const maxTold = 500;
/** A tab that shows the task says so within this time, in milliseconds; only then does another one tell the person. */
const patience = 400;
/** How often quiet hours are looked at, in milliseconds. */
const quietInterval = 30_000;
/** More needs at once than these are one notification. */
const maxAtOnce = 3;
/** What began longer ago than this before the page was opened is in the inbox that the person has just seen. */
const oldAge = 60_000;

/**
 * Tells the person with notifications of the browser what needs them: once for each need, however many tabs are open, and not
 * while a tab that can be seen shows the task. Returns what ends it.
 */
export function notifyPerson(client: QueryClient, shownTask: () => string | undefined, open: (task: string) => void) {
  const waiting = new QueryObserver(client, queries.tasks(waitingQuery(undefined)));
  const config = new QueryObserver(client, queries.config(undefined));
  const begunAt = Date.now();
  let isFirst = true;
  const look = () => {
    const { data } = waiting.getCurrentResult();
    const rules = rulesOf(config.getCurrentResult().data);
    if (data === undefined || rules === undefined) return;
    const needs = needsToTell(data.tasks, rules, new Date());
    // Needs that quiet hours hold back count as old too: the person has the inbox before them.
    const old = isFirst ? allNeeds(data.tasks).filter(({ since }) => since < begunAt - oldAge) : [];
    isFirst = false;
    const task = document.visibilityState === "visible" ? shownTask() : undefined;
    const seen = needs.filter((need) => need.task === task);
    void withTold((told) => [...old, ...seen].filter(({ key }) => !told.has(key)));
    const told = readTold();
    const fresh = needs.filter(({ key }) => !told.has(key) && !old.some((each) => each.key === key));
    if (fresh.length > seen.length) setTimeout(() => void tell(fresh, open), patience);
  };
  const ends = [waiting.subscribe(look), config.subscribe(look)];
  const timer = setInterval(look, quietInterval);
  look();
  return () => {
    for (const end of ends) end();
    clearInterval(timer);
  };
}

/** One tab at a time takes what nobody has told yet, and tells it. */
async function tell(needs: readonly Need[], open: (task: string) => void): Promise<void> {
  const own = await withTold((told) => needs.filter(({ key }) => !told.has(key)));
  const [first] = own;
  if (first === undefined) return;
  if (own.length <= maxAtOnce) for (const need of own) show(need.title, need.text, need.key, () => open(need.task));
  else show(`${own.length} tasks need you`, own.map(({ title }) => title).join("\n"), "many", () => open(first.task));
}

/** Marks what `choose` returns as told. Resolves with it. */
async function withTold(choose: (told: ReadonlySet<string>) => readonly Need[]): Promise<readonly Need[]> {
  const run = () => {
    const told = readTold();
    const chosen = choose(told);
    if (chosen.length > 0) writeTold([...told, ...chosen.map(({ key }) => key)]);
    return chosen;
  };
  // Locks exist only on https and on this machine; a tunnel's address is https.
  return navigator.locks === undefined ? run() : navigator.locks.request(lockName, async () => run());
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

function rulesOf(config: { readonly settings: readonly { key: string; value: string }[] } | undefined) {
  if (config === undefined) return undefined;
  const value = (key: string) => config.settings.find((each) => each.key === key)?.value ?? "";
  const rules: CallRules = {
    quiet: value("notify.quiet"),
    reasons: itemsOf(value("notify.reasons")),
    urgent: itemsOf(value("notify.urgent")),
  };
  return rules;
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
