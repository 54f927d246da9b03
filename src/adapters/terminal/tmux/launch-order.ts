import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "./write-whole.ts";

/** What the launcher is told. It has secrets in it. */
export interface LaunchOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Gives the file. */
export async function writeOrder(folder: string, { argv, cwd, env }: LaunchOrder): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "order.json");
  const order: LaunchOrder = { argv, cwd, env };
  await writeWhole(file, JSON.stringify(order));
  return file;
}
