/** How many colours the terminal has: none (bold and inverse stay), sixteen, 256, or all. */
export type Depth = 0 | 16 | 256 | 16_777_216;

/** The codes of an SGR sequence without those that hide text or let it blink. */
export function withoutHiding(codes: string): string {
  return join(attributesOf(codes).filter(({ code }) => code !== 8 && code !== 5 && code !== 6));
}

/** A line with foreign SGR sequences, in no more colours than the terminal has. */
export function inDepth(line: string, depth: Depth): string {
  if (depth > 16 || !line.includes("\u001b")) return line;
  return line.replace(sgr, (_, codes: string) => {
    const left = attributesOf(codes).filter(({ code, isExtended }) => (depth === 0 ? !isColour(code) : !isExtended));
    return left.length === 0 && codes !== "" ? "" : `\u001b[${join(left)}m`;
  });
}

interface Attribute {
  readonly code: number;
  readonly written: string;
  /** A colour of a larger palette. */
  readonly isExtended: boolean;
}

/** The attributes of a sequence; one such as 38;5;196 is one attribute. */
function attributesOf(codes: string): readonly Attribute[] {
  const words = codes.split(";");
  const found: Attribute[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const code = Number.parseInt(word, 10) || 0;
    const isExtended = code === 38 || code === 48 || code === 58;
    const more = !isExtended || word.includes(":") ? 0 : words[i + 1] === "5" ? 2 : words[i + 1] === "2" ? 4 : 0;
    found.push({ code, isExtended, written: words.slice(i, i + 1 + more).join(";") });
    i += more;
  }
  return found;
}

function join(attributes: readonly Attribute[]): string {
  return attributes.map(({ written }) => written).join(";");
}

const isColour = (code: number) =>
  (code >= 30 && code <= 49) || (code >= 90 && code <= 107) || code === 58 || code === 59;
// biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
const sgr = /\u001b\[([\d;:]*)m/g;
