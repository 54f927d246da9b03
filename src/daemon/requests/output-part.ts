/** Reads bytes from a position on; fewer than asked for where there are no more. */
export type ReadOutput = (from: number, limit: number) => Promise<Uint8Array>;

/** What was printed from a position on, cut only between characters. */
export async function outputPart(
  read: ReadOutput,
  from: number,
  most: number,
): Promise<{ text: string; next: number }> {
  const bytes = await read(from, most);
  const whole = bytes.length > longest ? bytes.subarray(0, endOfCharacters(bytes)) : bytes;
  return { text: new TextDecoder().decode(whole), next: from + whole.length };
}

/** Where the last lines begin that are whole and no longer together than `most`; in one that is longer where there is none. */
export async function lastWholeLines(read: ReadOutput, most: number): Promise<number> {
  const from = Math.max(0, (await outputSize(read)) - most);
  const end = from === 0 ? -1 : (await read(from, most)).indexOf(10);
  return end === -1 ? from : from + end + 1;
}

/** How much was printed so far, found by asking whether there is a byte here or there. */
export async function outputSize(read: ReadOutput): Promise<number> {
  const hasMore = async (at: number) => (await read(at, 1)).length > 0;
  let least = 0;
  let most = 1;
  while (await hasMore(most - 1)) {
    least = most;
    most *= 2;
  }
  while (least < most - 1) {
    const middle = Math.floor((least + most) / 2);
    if (await hasMore(middle - 1)) least = middle;
    else most = middle;
  }
  return least;
}

const longest = 4;

/** Where the last character that is whole ends. What is no text is taken as it is. */
function endOfCharacters(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at > bytes.length - longest; at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}
