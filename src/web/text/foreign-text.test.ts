import fc from "fast-check";
import { expect, test } from "vitest";
import { hiddenCharacters, joinedTexts } from "../../../test/hidden-characters.ts";
import { attacks } from "../../../test/web/attacks.ts";
import { ansiPieces } from "./ansi.ts";
import { markdownHtml } from "./markdown.ts";
import { visible } from "./visible.ts";

const safeTags =
  /^<\/?(?:p|h[1-6]|em|strong|del|code|pre|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|hr|br|sup|section|a|input)(?=[\s/>])/;
const safeAttributes =
  /^(?:href|target|rel|title|class|align|start|type|disabled|checked|id|aria-label|aria-describedby|data-footnotes|data-footnote-ref|data-footnote-backref|dir)$/;

/** What of the HTML is not on the lists. */
function problemsIn(html: string): readonly string[] {
  return [...html.matchAll(/<[^>]*>/g)].flatMap(([tag]) => {
    if (!safeTags.test(tag)) return [tag];
    const attributes = [...tag.matchAll(/\s([^\s=>"'/]+)(?:="([^"]*)")?/g)];
    return attributes.flatMap(([, name = "", value = ""]) => {
      const isLink = name === "href" && !/^(?:https?:|mailto:|#|$)/i.test(value);
      return safeAttributes.test(name) && !isLink ? [] : [tag];
    });
  });
}

test.each(attacks)("Markdown %j becomes HTML that runs nothing and loads nothing", (attack) => {
  for (const text of [attack, `# ${attack}`, `> ${attack}`, `- ${attack}`, `**${attack}**`, `\`${attack}\``])
    expect(problemsIn(markdownHtml(text))).toEqual([]);
});

test("whatever an agent writes, only known tags and addresses come out", () => {
  const part = fc.constantFrom(
    ...attacks,
    "<",
    ">",
    '"',
    "'",
    "&",
    "`",
    "[",
    "](",
    "!",
    "\n",
    "|",
    "javascript:",
    "\u202e",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 6 })), { maxLength: 12 }), (parts) => {
      expect(problemsIn(markdownHtml(parts.join("")))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("Markdown keeps what is meant well: tables, task lists, code, and links that tell nobody where they were", () => {
  const html = markdownHtml(
    "**bold** ~~old~~ [site](https://example.org)\n\n| a |\n| - |\n| 1 |\n\n- [x] done\n\n```\n<b>\n```",
  );
  expect(html).toContain('<a target="_blank" rel="noopener noreferrer" href="https://example.org">site</a>');
  for (const part of ["<strong>bold</strong>", "<del>old</del>", "<td>1</td>", "&lt;b&gt;"])
    expect(html).toContain(part);
  expect(markdownHtml("![a picture](https://example.org/x.png)")).toBe("<p><em>a picture</em></p>");
});

test.each([
  ["nested lists", `## Plan\n\n${"- ".repeat(30_000)}a`],
  ["nested quotes", `${"> ".repeat(500)}a`],
  ["numbered lists in lists", `${"1. ".repeat(400)}a`],
  ["unmatched stars", `${"**".repeat(4_000)}a${"**".repeat(4_000)}`],
  ["open brackets", "[a](".repeat(2_000)],
  ["marks in a cell", `| a |\n| - |\n| ${"**a ".repeat(3_000)} |`],
  ["a very long text", "word ".repeat(20_000)],
])("text whose Markdown would take the page's time is shown as it is: %s", (_, text) => {
  expect(markdownHtml(`${text}<b>`)).toMatch(/^<pre>[^<]*&lt;b&gt;<\/pre>$/);
});

test("long documents of people are read as Markdown: prose, lists, and tables of many rows", () => {
  const row = "| `a` | **b** [c](#d) |\n";
  for (const text of [
    `${"Some *words* and `code`.\n".repeat(40)}\n`.repeat(25),
    `| a | b |\n| - | - |\n${row.repeat(400)}`,
  ])
    expect(markdownHtml(text)).not.toContain("<pre>");
  expect(markdownHtml("- a\n  - b\n    1. > c\n")).toContain("<blockquote>");
});

test("hidden characters are seen: controls as pictures, and what changes the direction of writing as numbers", () => {
  expect(visible("safe\u202eexe.txt")).toBe("safe‹U+202E›exe.txt");
  expect(visible("a\u0000b\u001bc\u200bd")).toBe("a␀b␛c‹U+200B›d");
  for (const character of hiddenCharacters) {
    const number = `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
    expect(visible(`x${character}y é${character}é`)).toBe(`x${number}y é${number}é`);
  }
  for (const text of joinedTexts) expect(visible(text)).toBe(text);
  expect(visible("lines\r\nstay\n\tas they are – grüße 👩‍💻")).toBe("lines\nstay\n\tas they are – grüße 👩‍💻");
});

test("of a terminal's text only colours count", () => {
  const pieces = ansiPieces(
    "a\u001b[1;31mred\u001b[39m\u001b[38;2;1;2;3mown\u001b[0m\u001b]52;c;ZXZpbA==\u0007b\u001b[2J\u001b[5;5Hc",
  );
  expect(pieces).toEqual([
    { text: "a", style: {} },
    { text: "red", style: { bold: true, fg: 1 } },
    { text: "own", style: { bold: true, fg: "#010203" } },
    { text: "bc", style: {} },
  ]);
});

test("in a terminal's text, a Braille pattern without dots is a space", () => {
  expect(ansiPieces("⣿\u2800⣿")).toEqual([{ text: "⣿ ⣿", style: {} }]);
});

test("no escape sequence, whole or cut off, gets through to the text of a screen", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("\u001b", "[", "]", "52;c;", "0;x", "\u0007", "m", "31", "\u009b", "\\", "P", "a")),
      (parts) => {
        const text = ansiPieces(parts.join(""))
          .map((piece) => piece.text)
          .join("");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not come through.
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      },
    ),
  );
});
