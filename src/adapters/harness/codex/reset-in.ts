const clock = String.raw`(\d{1,2}):(\d{2}) ?([AP])M`;
const onDay = new RegExp(String.raw`try again at ([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) ${clock}`);
const today = new RegExp(`try again at ${clock}`);
const after = /try again in ((?:\d+(?:\.\d+)?(?:ms|[dhms])\s*)+)/i;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** When a limit is over, as a message tells it in this machine's time; undefined where it does not. */
export function resetIn(message: string, now: number): number | undefined {
  const dated = onDay.exec(message);
  if (dated !== null) {
    const [, month = "", day, year, hour, minute, half] = dated;
    return new Date(Number(year), months.indexOf(month), Number(day), hourOf(hour, half), Number(minute)).getTime();
  }
  const timed = today.exec(message);
  if (timed !== null) {
    const [, hour, minute, half] = timed;
    const at = new Date(now);
    at.setHours(hourOf(hour, half), Number(minute), 0, 0);
    // Minutes are all it tells; an hour that has just gone by is the next day's.
    if (at.getTime() < now - 60_000) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  const span = after.exec(message)?.[1];
  if (span === undefined) return undefined;
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/gi)];
  return now + Math.ceil(parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0));
}

function hourOf(hour: string | undefined, half: string | undefined): number {
  return (Number(hour) % 12) + (half === "P" ? 12 : 0);
}
