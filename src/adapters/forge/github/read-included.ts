import type { GithubResponse } from "./transport.ts";

/** Takes apart what `gh api --include` prints: a status line, headers, an empty line, the body. */
export function readIncluded(printed: string): GithubResponse | undefined {
  const [, status] = /^HTTP\/[\d.]+ (\d{3})\b[^\n]*\n/.exec(printed) ?? [];
  const end = /\r?\n\r?\n/.exec(printed);
  if (status === undefined || end === null) return undefined;
  const lines = printed.slice(0, end.index).split(/\r?\n/).slice(1);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(status),
    headers: Object.fromEntries(headers),
    body: printed.slice(end.index + end[0].length),
  };
}
