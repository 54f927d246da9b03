import type { FileName } from "../../ports/git-names.ts";

export function fileName(bytes: Uint8Array): FileName {
  return { bytes, text: shown(bytes) };
}

/** What git prints with `-z`. */
export function splitNul(output: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf(0, start);
    parts.push(output.subarray(start, end === -1 ? output.length : end));
    start = end === -1 ? output.length : end + 1;
  }
  return parts;
}

/** The other way round, for what git reads with `-z`. */
export function joinNul(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [typeof part === "string" ? Buffer.from(part) : part, Buffer.of(0)]));
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function shown(bytes: Uint8Array): string {
  const text = decoded(bytes);
  // Also what turns the direction of writing round: a name must not look like another one.
  if (text !== undefined && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\]/u.test(text)) return text;
  const parts = [...bytes].map((byte) =>
    byte < 0x20 || byte >= 0x7f
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : byte === 0x22 || byte === 0x5c
        ? `\\${String.fromCharCode(byte)}`
        : String.fromCharCode(byte),
  );
  return `"${parts.join("")}"`;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
