import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What the launcher is told. It has secrets in it. */
export interface LaunchOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Writes the order whole or not at all, for nobody else to read; gives the file. */
export async function writeOrder(folder: string, { argv, cwd, env }: LaunchOrder): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "order.json");
  const draft = `${file}.${process.pid}`;
  const order: LaunchOrder = { argv, cwd, env };
  await writeFile(draft, JSON.stringify(order), { mode: 0o600 });
  await rename(draft, file);
  return file;
}
