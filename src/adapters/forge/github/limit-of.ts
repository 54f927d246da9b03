import { Fault } from "../../../fault.ts";
import { saidIn } from "./said-in.ts";
import type { GithubResponse, GithubTransport } from "./transport.ts";

// Whatever the answer says: in between somebody may have helped.
const longestWait = 24 * 3_600_000;

/** Until when GitHub wants to be left alone, if that is what it says. */
export function limitOf(response: GithubResponse, now: number): number | undefined {
  const wait = waitIn(response, now);
  return wait === undefined ? undefined : now + Math.min(Math.max(1_000, wait), longestWait);
}

function waitIn({ status, headers, body }: GithubResponse, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  // Its own clock counts, which need not go as ours does.
  const theirs = Date.parse(headers.date ?? "") || now;
  const after = headers["retry-after"] ?? "";
  if (/^\d+$/.test(after)) return Number(after) * 1_000;
  if (Date.parse(after) > 0) return Date.parse(after) - theirs;
  const reset = Number(headers["x-ratelimit-reset"]) * 1_000;
  if (headers["x-ratelimit-remaining"] === "0" && reset > 0) return reset - theirs;
  return status === 429 || /rate limit|abuse/i.test(saidIn(body)) ? 60_000 : undefined;
}

export function limited(response: GithubResponse, until: number, { apiUrl, hide }: GithubTransport): Fault {
  const time = new Date(until).toISOString();
  const said = hide(saidIn(response.body));
  return new Fault(
    "forge.limited",
    `GitHub at ${new URL(apiUrl).host} takes no more requests until ${time} (${response.status}${said === "" ? "" : `: ${said}`}).`,
    { retry: "later", hint: `It is tried again after ${time}.`, cause: { retryAt: until } },
  );
}
