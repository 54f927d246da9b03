import { describe, expect, test } from "vitest";
import { animationOf, type Frame } from "../scripts/recording/animation.ts";
import { back, front, rowsOf } from "../scripts/recording/cells.ts";

const columns = 20;
const looks = { columns, rows: 3, back, front, still: 1, title: "A <title>", description: "What is seen" };

async function frame(lines: readonly string[], seconds: number, keys: readonly string[] = []): Promise<Frame> {
  return { rows: await rowsOf(lines, columns), keys, caption: "what it does", seconds };
}

async function drawn(...lines: readonly string[]): Promise<string> {
  const svg = animationOf([await frame(lines, 1)], { ...looks, still: 0 });
  return svg.slice(svg.indexOf("<defs>"), svg.indexOf("</defs>"));
}

/** The text of each run with its column and its width in pixels. */
function runsIn(svg: string): readonly (readonly [string | undefined, number, number])[] {
  const runs = svg.matchAll(/<text x="(\d+)" y="[\d.]+" textLength="(\d+)"[^>]*>([^<]*)</g);
  return [...runs].map(([, x, length, text]) => [text, Number(x), Number(length)]);
}

describe("the recording of the dashboard", () => {
  test("shows one frame after the other, each for its time, and then the first again", async () => {
    const frames = [await frame(["one"], 1), await frame(["two"], 2), await frame(["three"], 1)];
    const svg = animationOf(frames, looks);
    expect(svg.match(/@keyframes f.*/g)).toEqual([
      "@keyframes f0{0%{visibility:visible}25%,to{visibility:hidden}}",
      "@keyframes f1{0%{visibility:hidden}25%{visibility:visible}75%,to{visibility:hidden}}",
      "@keyframes f2{0%{visibility:hidden}75%{visibility:visible}to{visibility:visible}}",
    ]);
    expect(svg).toContain(".f{animation:4s step-end infinite}");
  });

  test("is a still picture for people who want no motion", async () => {
    const svg = animationOf([await frame(["one"], 1), await frame(["two"], 2)], looks);
    expect(svg).toMatch(/@media\(prefers-reduced-motion:reduce\)\{\.f,\.p\{animation:none\}/);
    expect(
      [...svg.matchAll(/name:f(\d)"( visibility="hidden")?/g)].map(([, i, hidden]) => [i, hidden !== undefined]),
    ).toEqual([
      ["0", true],
      ["1", false],
    ]);
  });

  test("needs nothing from elsewhere, and escapes what is on the screen", async () => {
    const svg = animationOf([await frame(['<script> & "x"'], 1, ["<"])], { ...looks, still: 0 });
    expect(svg).toContain(`>&lt;script&gt; &amp; "x"</text>`);
    expect(svg).toContain(">&lt;</text>");
    expect(svg).toContain(`<title id="title">A &lt;title&gt;</title>`);
    expect(svg.replace(`xmlns="http://www.w3.org/2000/svg"`, "")).not.toMatch(
      /<script|<image|https?:|url\(|@import|@font/,
    );
  });

  test("places each run at its column, as wide as its cells, and characters of other fonts alone", async () => {
    expect(runsIn(await drawn("a bc  d", " ▲ ok…", "日本x"))).toEqual([
      ["a bc", 0, 32],
      ["d", 48, 8],
      ["▲", 8, 8],
      ["ok", 24, 16],
      ["…", 40, 8],
      ["日", 0, 16],
      ["本", 16, 16],
      ["x", 32, 8],
    ]);
  });

  test("has the colours of the terminal, and one line instead of characters that would leave gaps", async () => {
    const svg = await drawn("\u001b[38;5;214mask\u001b[39m \u001b[1mb\u001b[0m", "\u001b[7mc\u001b[27m", "───");
    expect(svg).toMatch(/fill="#ffaf00">ask</);
    expect(svg).toMatch(/fill="#d5d9e0" font-weight="bold">b</);
    expect(svg).toMatch(
      new RegExp(`<rect x="-8" width="16" height="18" fill="${front}"/><text [^>]*fill="${back}">c<`),
    );
    expect(svg).toContain(`<rect x="0" y="9" width="24" height="1" fill="${front}"/>`);
  });

  test("colours a whole line with one rectangle up to the edges, whatever is written on it", async () => {
    const svg = await drawn(`\u001b[48;5;237m›\u001b[1m${"x".repeat(9)}\u001b[22m${" ".repeat(10)}`);
    expect(svg.match(/<rect[^>]*>/g)).toEqual([`<rect x="-8" width="176" height="18" fill="#3a3a3a"/>`]);
  });
});
