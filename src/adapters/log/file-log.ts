import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type LeveledLog, type Log, type LogFields, type LogLevel, logLevels } from "../../ports/system.ts";
import { type Plain, plainFields, plainText } from "./redact.ts";

interface Rotation {
  readonly maxBytes: number;
  readonly keep: number;
}

/**
 * Appends lines to a file, all or none; throws if that fails. The file is opened each time, so that other programs may
 * move or delete it. It is rotated first if it would become too large.
 */
function appendRotating(path: string, lines: Buffer, { maxBytes, keep }: Rotation): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0 && size + lines.length > maxBytes) putAside(path, keep);
  const file = openPrivate(path);
  try {
    appendWhole(file, lines);
  } finally {
    closeSync(file);
  }
}

function openPrivate(path: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, "a+", 0o600);
  }
}

function appendWhole(file: number, lines: Buffer): void {
  const { size } = fstatSync(file);
  try {
    if (isTorn(file, size)) writeSync(file, "\n");
    for (let done = 0; done < lines.length; ) done += writeSync(file, lines, done);
  } catch (error) {
    takeBack(file, size);
    throw error;
  }
}

/** Whether the file ends inside a line, because a process was killed while writing. */
function isTorn(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

function takeBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // A partial line stays; the next append begins a new line.
  }
}

function putAside(path: string, keep: number): void {
  const names = [path, ...Array.from({ length: keep }, (_, index) => `${path}.${index + 1}`)];
  try {
    rmSync(names.at(-1) ?? path, { force: true });
    for (let index = keep - 1; index >= 0; index--) move(names[index] ?? path, names[index + 1] ?? path);
  } catch {
    // A log that is too large is better than none.
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

export interface FileLogOptions {
  readonly path: string;
  readonly level: LogLevel;
  /** Milliseconds since 1970. */
  now(): number;
  /** The file is rotated before it would become larger. */
  readonly maxBytes?: number;
  /** How many rotated files are kept; `daemon.log.1` is the newest. */
  readonly keep?: number;
}

const maxBuffered = 64 * 1024;

/**
 * Writes one JSON object per line: `at`, `level`, `message`, and the fields. Lines of the same tick are written
 * together, warnings and errors immediately with all lines before them. Lines that cannot be written are dropped and
 * counted; the count is written with the next line.
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
    const notice =
      lost === 0 ? [] : [line("warn", "Some lines of this log could not be written and are lost", { lost })];
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
      if (bytes + size > Math.min(maxBuffered, maxBytes)) flush();
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

/** Renames fields that would replace `at`, `level` or `message`. */
function apart(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      ["at", "level", "message"].includes(key) ? `fields.${key}` : key,
      value,
    ]),
  );
}

/** The destination of lines. Its input is plain data without secrets. */
interface Sink {
  write(level: LogLevel, message: string, fields: Readonly<Record<string, Plain>>): void;
  close(): Promise<void>;
}

/** A log with levels and fields that writes to a sink, and never throws. */
export function leveledLog(level: LogLevel, sink: Sink): LeveledLog {
  let least = logLevels.indexOf(level);

  const say = (level: LogLevel, message: string, own: LogFields, fields: LogFields | undefined) => {
    if (logLevels.indexOf(level) < least) return;
    try {
      sink.write(level, plainText(message), { ...readable(own), ...readable(fields ?? {}) });
    } catch {
      // A failing log must not disturb its caller.
    }
  };

  const withFields = (own: LogFields): Log => ({
    debug: (message, fields) => say("debug", message, own, fields),
    info: (message, fields) => say("info", message, own, fields),
    warn: (message, fields) => say("warn", message, own, fields),
    error: (message, fields) => say("error", message, own, fields),
    with: (more) => withFields({ ...own, ...more }),
    close: () => sink.close(),
  });

  return {
    ...withFields({}),
    setLevel(next) {
      least = logLevels.indexOf(next);
    },
  };
}

/** A throwing getter must not lose the message. */
function readable(fields: LogFields): Readonly<Record<string, Plain>> {
  try {
    return plainFields(fields);
  } catch (error) {
    return { fields: `could not be read: ${plainText(String(error))}` };
  }
}
