import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { root } from "../documents.ts";

const folder = join(process.env.SIGNALBOX_BUILT ?? root, "dist/web");
const index = readFileSync(join(folder, "index.html"), "utf8");
/** What a browser loads before it shows anything. */
const first = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].flatMap(([, file = ""]) =>
  file.endsWith(".svg") ? [] : [file],
);
const textOf = (file: string) => readFileSync(join(folder, file), "utf8");

test("the first load has at most 150 kB gzipped", () => {
  const sizes = [Buffer.from(index), ...first.map((file) => readFileSync(join(folder, file)))].map(
    (bytes) => gzipSync(bytes).length,
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(first.length).toBeGreaterThan(1);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(150_000);
});

test.each([
  ["the palette", "cmdk-item"],
  ["Markdown", "codeFencedFenceSequence"],
  ["differences", "diff-gutter-insert"],
  ["terminals", "xterm-helper-textarea"],
  ["what places graphs", "network-simplex"],
  ["charts", "u-cursor-pt"],
  ["live previews", "data-preview"],
  ["the time line", "nothing happens"],
])("%s comes only when it is needed", (_, sign) => {
  const later = readdirSync(join(folder, "assets")).filter(
    (file) => /\.(js|css)$/.test(file) && !first.includes(`assets/${file}`),
  );
  expect(first.filter((file) => textOf(file).includes(sign))).toEqual([]);
  expect(later.some((file) => textOf(`assets/${file}`).includes(sign))).toBe(true);
});

test("the page needs no inline script and nothing from elsewhere, as its policy demands", () => {
  expect(index).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)/);
  expect(index).not.toMatch(/(?:src|href)="(?!\/assets\/)/);
});
