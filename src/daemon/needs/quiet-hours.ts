/** When nobody wants to be called: from one time of the day to another, in minutes; they may cross midnight. */
interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/** `22:00-07:00`; undefined for anything else, and for hours that never begin. */
export function readQuietHours(text: string): QuietHours | undefined {
  const [, ...parts] = /^(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})$/.exec(text.trim()) ?? [];
  const [h1 = 24, m1 = 60, h2 = 24, m2 = 60] = parts.map(Number);
  if (h1 > 23 || m1 > 59 || h2 > 23 || m2 > 59) return undefined;
  const [from, to] = [h1 * 60 + m1, h2 * 60 + m2];
  return from === to ? undefined : { from, to };
}

/** When the quiet hours that it is in now are over, by the clock on the wall; undefined where it is in none. */
export function quietUntil(text: string, now: number): number | undefined {
  const hours = readQuietHours(text);
  if (hours === undefined) return undefined;
  const { from, to } = hours;
  const time = new Date(now);
  const minute = time.getHours() * 60 + time.getMinutes();
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!isQuiet) return undefined;
  const end = new Date(now);
  end.setHours(Math.floor(to / 60), to % 60, 0, 0);
  if (end.getTime() <= now) end.setDate(end.getDate() + 1);
  return end.getTime();
}
