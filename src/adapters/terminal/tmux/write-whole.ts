import { rename, writeFile } from "node:fs/promises";

/** Writes a file whole or not at all, for nobody else to read. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
