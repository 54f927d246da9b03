import type { LeveledLog, LogLevel } from "../../ports/log.ts";
import { appendRotating } from "./append-rotating.ts";
import { leveledLog } from "./leveled-log.ts";

export interface FileLogOptions {
  readonly path: string;
  readonly level: LogLevel;
  /** Milliseconds since 1970. */
  now(): number;
  /** A file that would become larger is put aside first. */
  readonly maxBytes?: number;
  /** How many files that were put aside are kept: `daemon.log.1` is the youngest. */
  readonly keep?: number;
}

const mostWaiting = 64 * 1024;

/**
 * Writes one JSON object per line: `at`, `level`, `message`, and the fields. Lines of the same turn are written together,
 * warnings and errors at once with everything before them. What cannot be written is dropped and counted; the next line
 * that can be written comes with the count.
 */
export function createFileLog({ path, level, now, maxBytes = 5 * 1024 * 1024, keep = 3 }: FileLogOptions): LeveledLog {
  let waiting: string[] = [];
  let bytes = 0;
  let lost = 0;
  let scheduled: NodeJS.Immediate | undefined;

  const line = (level: LogLevel, message: string, fields: object) =>
    `${JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields })}\n`;

  const flush = () => {
    clearImmediate(scheduled);
    scheduled = undefined;
    if (waiting.length === 0) return;
    const lines = waiting;
    waiting = [];
    bytes = 0;
    const notice = lost === 0 ? [] : [line("warn", "Lines of this log could not be written and are lost.", { lost })];
    try {
      appendRotating(path, Buffer.from([...notice, ...lines].join("")), { maxBytes, keep });
      lost = 0;
    } catch {
      lost += lines.length;
    }
  };

  return leveledLog(level, {
    write(level, message, fields) {
      const next = line(level, message, apart(fields));
      const size = Buffer.byteLength(next);
      if (bytes + size > Math.min(mostWaiting, maxBytes)) flush();
      waiting.push(next);
      bytes += size;
      if (level === "warn" || level === "error") flush();
      else scheduled ??= setImmediate(flush);
    },
    async close() {
      flush();
    },
  });
}

/** A field must not take the place of what every line has. */
function apart(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      ["at", "level", "message"].includes(key) ? `fields.${key}` : key,
      value,
    ]),
  );
}
