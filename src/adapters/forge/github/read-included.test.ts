import { expect, test } from "vitest";
import { readIncluded } from "./read-included.ts";

test("status, headers and body are taken apart", () => {
  const printed =
    'HTTP/2.0 422 Unprocessable Entity\nEtag: W/"a:b"\r\nLink: <https://x/?a=1>; rel="next"\r\n\r\n{"a":\n\n1}';
  expect(readIncluded(printed)).toEqual({
    status: 422,
    headers: { etag: 'W/"a:b"', link: '<https://x/?a=1>; rel="next"' },
    body: '{"a":\n\n1}',
  });
});

test("an answer may have no body", () => {
  expect(readIncluded("HTTP/1.1 304 Not Modified\nDate: x\r\n\r\n")).toEqual({
    ...{ status: 304, headers: { date: "x" }, body: "" },
  });
});

test.each(["", "{}", "HTTP/2.0 200 OK\n", "gh: HTTP 404\n\n", "error connecting to api.github.com\n\n"])(
  "%j is none",
  (printed) => {
    expect(readIncluded(printed)).toBeUndefined();
  },
);
