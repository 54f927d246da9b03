// Loaded before everything else (`--import`), it delays every commit of SQLite by SIGNALBOX_DISK_MS, the time of an fsync on
// a slow disk. Some disks confirm an fsync immediately, and then only everything else is measured.
import { DatabaseSync } from "node:sqlite";

const milliseconds = Number(process.env.SIGNALBOX_DISK_MS ?? 1);
const nobody = new Int32Array(new SharedArrayBuffer(4));
const prepare = DatabaseSync.prototype.prepare;

DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...asked: Parameters<typeof prepare>) {
  const [sql] = asked;
  const statement = prepare.apply(this, asked);
  const run = statement.run.bind(statement);
  const isCommit = /^\s*commit/i.test(sql);
  const isWrite = /^\s*(insert|update|delete)/i.test(sql);
  statement.run = ((...args: Parameters<typeof run>) => {
    const result = run(...args);
    if (isCommit || (isWrite && !this.isTransaction)) Atomics.wait(nobody, 0, 0, milliseconds);
    return result;
  }) as typeof run;
  return statement;
} as typeof prepare;
