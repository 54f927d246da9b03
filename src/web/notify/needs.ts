import type { Row } from "../data/queries.ts";

/** What the configuration says about calls. */
export interface CallRules {
  /** Two times of the day, such as `22:00-07:00`; empty for none. */
  readonly quiet: string;
  /** The reasons that a person is called for; empty for all. */
  readonly reasons: readonly string[];
  /** Those for which also in quiet hours. */
  readonly urgent: readonly string[];
}

/** The rules in the settings of a configuration. */
export function rulesOf(settings: readonly { readonly key: string; readonly value: string }[]): CallRules {
  const value = (key: string) => settings.find((each) => each.key === key)?.value ?? "";
  return {
    quiet: value("notify.quiet"),
    reasons: itemsOf(value("notify.reasons")),
    urgent: itemsOf(value("notify.urgent")),
  };
}

/** A reason why a task needs the person, which is told once. */
export interface Need {
  readonly key: string;
  readonly task: string;
  readonly title: string;
  readonly text: string;
  readonly since: number;
}

/** What of these tasks a person is called for now. What quiet hours hold back is among it when they end. */
export function needsToTell(rows: readonly Row[], { quiet, reasons, urgent }: CallRules, now: Date): readonly Need[] {
  const isQuiet = isQuietAt(quiet, now);
  return rows.flatMap(({ id, project, number, summary, ask, snoozedUntil }) => {
    if (ask === null || (snoozedUntil !== null && Date.parse(snoozedUntil) > now.getTime())) return [];
    if (reasons.length > 0 && !reasons.includes(ask.reason)) return [];
    if (isQuiet && !urgent.includes(ask.reason)) return [];
    const title = `${project}#${number} ${summary}`;
    return [{ key: `${id} ${ask.reason} ${ask.since}`, task: id, title, text: ask.text, since: Date.parse(ask.since) }];
  });
}

/** Whether the time is in the quiet hours, which may cross midnight. */
export function isQuietAt(quiet: string, now: Date): boolean {
  const [, fromHour, fromMinute, toHour, toMinute] = /^(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/.exec(quiet) ?? [];
  if (fromHour === undefined) return false;
  const from = 60 * Number(fromHour) + Number(fromMinute);
  const to = 60 * Number(toHour) + Number(toMinute);
  const minute = 60 * now.getHours() + now.getMinutes();
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** The items of a list as a configuration file has them: `[question, approval]`. */
function itemsOf(value: string): readonly string[] {
  return value
    .replace(/^\[|\]$/g, "")
    .split(",")
    .map((item) => item.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((item) => item !== "");
}
