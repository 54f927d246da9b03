import { type LeveledLog, type Log, type LogFields, type LogLevel, logLevels } from "../../ports/log.ts";
import { type Plain, plainFields, plainText } from "./plain-fields.ts";

/** Where lines go. What arrives here is plain and has no secrets any more. */
export interface Sink {
  write(level: LogLevel, message: string, fields: Readonly<Record<string, Plain>>): void;
  close(): Promise<void>;
}

/** Everything about a log but where its lines go: levels, fields, and that it never throws. */
export function leveledLog(level: LogLevel, sink: Sink): LeveledLog {
  let least = logLevels.indexOf(level);

  const say = (level: LogLevel, message: string, own: LogFields, fields: LogFields | undefined) => {
    if (logLevels.indexOf(level) < least) return;
    try {
      sink.write(level, plainText(message), { ...readable(own), ...readable(fields ?? {}) });
    } catch {
      // Whoever says something has better things to do than to look after the log.
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

/** A getter that throws must not cost the message. */
function readable(fields: LogFields): Readonly<Record<string, Plain>> {
  try {
    return plainFields(fields);
  } catch (error) {
    return { fields: `could not be read: ${plainText(String(error))}` };
  }
}
