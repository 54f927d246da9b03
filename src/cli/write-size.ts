/** A number of bytes in its largest unit: `900 B`, `12 KB`, `3 MB`, `40 GB`. */
export function writeSize(bytes: number): string {
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Math.floor(bytes / 1024 ** unit)} ${units[unit]}`;
}

const units = ["B", "KB", "MB", "GB", "TB"];
