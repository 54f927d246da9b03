import { open } from "node:fs/promises";

/** Makes the names in a folder last: that its files last does not say that they are called what they are called. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(unless("ENOENT"));
  try {
    // Some file systems cannot do this for folders.
    await handle?.sync().catch(unless("EINVAL", "ENOTSUP"));
  } finally {
    await handle?.close();
  }
}

function unless(...codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
    return undefined;
  };
}
