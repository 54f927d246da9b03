import { pageKeyHeader, pageKeyQuery } from "../../api/web.ts";

const keyName = "signalbox.key";
/**
 * The page key. If the browser denies storage, it lives only in memory, and the sign-in ends when the page is closed.
 */
let key = readKey();

/** The header that proves that the daemon's own page asks: browsers send the cookie to every port of the host. */
export function keyHeaders(): Record<string, string> {
  return key === "" ? {} : { [pageKeyHeader]: key };
}

/** The address of a WebSocket of the daemon. It has the key in its query, because a page cannot set headers there. */
export function socketAddress(path: string): string {
  const address = new URL(path, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  if (key !== "") address.searchParams.set(pageKeyQuery, key);
  return address.href;
}

export function keepKey(next: string): void {
  key = next;
  try {
    if (next === "") localStorage.removeItem(keyName);
    else localStorage.setItem(keyName, next);
  } catch {
    // Without storage the key stays in memory.
  }
}

function readKey(): string {
  try {
    return localStorage.getItem(keyName) ?? "";
  } catch {
    return "";
  }
}
