/** Bytes from `500MB`, `1.5 GB` or a plain number of bytes; undefined for anything else. */
export function readSize(text: string): number | undefined {
  const [, amount, unit = "B"] = /^(\d+(?:\.\d+)?) ?(B|KB|MB|GB|TB)?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * 1024 ** units.indexOf(unit.toUpperCase()));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

const units = ["B", "KB", "MB", "GB", "TB"];
