import { Terminal } from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hiddenCharacters } from "../../test/hidden-characters.ts";
import { clip, filled, safeLine, safeText, widthOf, wrapText } from "./cells.ts";
import { createScreen } from "./screen.ts";

/** Texts as they come from agents, branches and files. */
const corpus: readonly string[] = [
  "plain text",
  "抽出した濃いコーヒー",
  "한국어 커피",
  "emoji ☕ 🫖 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ✅ ❤️ 1️⃣ 🇩🇪",
  "מזל טוב مرحبا بالعالم",
  "bidi \u202e desrever \u202c \u2066 isolate \u2069 \u200f mark",
  "zero \u200b width \u200d joiner \ufeff and \u00ad soft \u2060 word",
  "combining e\u0301 a\u0308\u0323 z\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317\u0318 \u0301 alone",
  "हिन्दी देवनागरी ไทย ภาษา",
  "mathe 𝕄𝕒𝕥𝕙 and 𓀀 hieroglyphs",
  "\u001b[31mred\u001b[0m \u001b[2J\u001b[1;1Hmoved \u001b]0;title\u0007 \u001b]52;c;AAAA\u001b\\ \u001bPq\u001b\\ \u001bc reset",
  "\u009b31mC1 \u009d0;t\u0007 \u0000\u0001\u0007\b\r\t\v\f\u007f",
  "half \u001b[",
  "lone \ud800 surrogate \udc00",
  "tags \u{e0041}\u{e0042} fillers \u3164\u115f\u1160\uffa0",
  "ｆｕｌｌｗｉｄｔｈ ﾊﾝｶｸ",
  "━┃ ▲● ✓✗ … — “quotes”",
];

const columns = 60;

/** Draws lines as the dashboard does, and reads the cells of a terminal. */
async function cellsOf(lines: readonly string[]) {
  const terminal = new Terminal({ cols: columns, rows: lines.length, allowProposedApi: true });
  let bytes = "";
  const screen = createScreen({ write: (text) => (bytes += text) }, false);
  screen.enter();
  screen.draw(lines, columns);
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  return lines.map((_, row) =>
    Array.from({ length: columns }, (_, column) => active.getLine(row)?.getCell(column)?.getChars() || " "),
  );
}

test.each([false, true])("what agents write never moves a column, with colours: %s", async (isStyled) => {
  for (const width of [5, 9, 20, 37]) {
    const lines = corpus.map((text) => `${filled(safeText(text, isStyled), width)}|END`);
    const cells = await cellsOf(lines);
    for (const [row, line] of cells.entries())
      expect([corpus[row], line.slice(width).join("").trimEnd()]).toEqual([corpus[row], "|END"]);
  }
});

test("plain, wide and accented characters are in the cells where they belong", async () => {
  const [line = []] = await cellsOf([filled("aé日本x", 20)]);
  expect([line[0], line[1], line[2], line[4], line[6]]).toEqual(["a", "é", "日", "本", "x"]);
});

test("any text takes exactly the columns that it is given, and leaves no control character but styles of its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, width) => {
      const line = filled(safeText(text, true), width);
      expect(widthOf(line)).toBe(width);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
      const plain = line.replace(/\u001b\[[\d;:]*m/g, "");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be left.
      expect(plain).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }),
    { numRuns: 300 },
  );
});

test("of escape sequences only colours survive, the others become a visible mark", () => {
  expect(safeText("a\u001b[31mb\u001b[0m\u001b[2Jc\u001b]0;t\u0007d", true)).toBe("a\u001b[31mb\u001b[0m␛c␛d");
  expect(safeText("a\u001b[31mb\u001b[0m", false)).toBe("ab");
  expect(safeLine(" two\nlines\t and\u202e more ")).toBe("two lines and\ufffd more");
});

test("a hidden character becomes a mark; what emoji need is left out, because terminals disagree about it", () => {
  for (const character of hiddenCharacters) expect(safeLine(`x${character}y é${character}é`)).toBe("x\ufffdy é\ufffdé");
  expect(safeLine("❤️ 1️⃣ 👩‍💻")).toBe("❤ 1\u20e3 👩💻");
  expect(safeLine("می‌خواهم")).toBe("می‌خواهم");
  expect(safeText("⣿\u2800⣿", true)).toBe("⣿ ⣿");
});

test("a style that hides text is left out, and a colour whose number is the same stays", () => {
  expect(safeText("\u001b[1;8mx\u001b[38;5;8my\u001b[38;2;8;8;8mz", true)).toBe(
    "\u001b[1mx\u001b[38;5;8my\u001b[38;2;8;8;8mz",
  );
});

test("a cut line ends its styles, and a wide character that does not fit is left out", () => {
  expect(clip("\u001b[31mredder\u001b[0m", 4)).toBe("\u001b[31mred…\u001b[0m");
  expect(clip("日本語", 4)).toBe("日…");
  expect(filled("日本語", 4)).toBe("日… ");
});

test("a text is wrapped between words, and a word that is too long inside of it", () => {
  expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapText("abcdefgh ij", 3)).toEqual(["abc", "def", "gh", "ij"]);
});
