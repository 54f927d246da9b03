import { expect, test } from "vitest";
import { nextPage } from "./client.ts";

const root = "https://api.github.com";

test("the next page is found at any position in the header", () => {
  const prev = `<${root}/repositories/1/pulls?page=1>; rel="prev"`;
  const next = `<${root}/repositories/1/pulls?head=a%3Ab,c&page=3>; rel="next"`;
  const last = `<${root}/repositories/1/pulls?page=9>; rel="last"`;
  for (const link of [[prev, next, last], [next], [last, prev, next]])
    expect(nextPage(link.join(", "), root)).toBe("repositories/1/pulls?head=a%3Ab,c&page=3");
  expect(nextPage(`<${root}/a?page=2>; title="x"; rel=next`, root)).toBe("a?page=2");
});

test("the last page has no next page", () => {
  expect(nextPage("", root)).toBeUndefined();
  expect(nextPage(`<${root}/pulls?rel=next>; rel="prev"`, root)).toBeUndefined();
});

test.each([
  "https://api.github.com.evil.org/x",
  "https://evil.org/",
  "http://api.github.com/x",
  "/x",
  "https://api.github.com@evil.org/x",
])("%s is not below the API", (url) => {
  expect(() => nextPage(`<${url}>; rel="next"`, root)).toThrow(expect.objectContaining({ code: "forge.garbled" }));
});

test("the root of a GitHub Enterprise server has a path", () => {
  const own = "https://git.example.org/api/v3";
  expect(nextPage(`<${own}/repositories/1/pulls?page=2>; rel="next"`, own)).toBe("repositories/1/pulls?page=2");
});
