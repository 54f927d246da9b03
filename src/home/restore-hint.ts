import { dirname, join } from "node:path";
import type { Places } from "./places.ts";
import { filesIn } from "./workflows.ts";

/** What to type when the database is damaged. Its log would be played into the copy, so it is put aside as well. */
export function restoreHint({ database, backups }: Pick<Places, "database" | "backups">): string {
  const newest = newestBackup({ backups });
  const aside = join(dirname(database), "damaged");
  const putAside = `mkdir "${aside}" && mv "${database}"* "${aside}"`;
  if (newest === undefined) return `There is no backup in ${backups}. To begin with nothing:\n${putAside}`;
  return `Restore the newest backup:\n${putAside}\ncp "${newest}" "${database}"`;
}

/** They are named after their time. */
export function newestBackup({ backups }: Pick<Places, "backups">): string | undefined {
  const names = filesIn(backups).filter((file) => file.endsWith(".db"));
  const newest = names.sort().at(-1);
  return newest && join(backups, newest);
}
