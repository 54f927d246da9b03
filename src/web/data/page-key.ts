import { pageKeyHeader, pageKeyQuery } from "../../api/web.ts";

const keyName = "signalbox.key";
/** Where the browser keeps nothing for this page, the session ends with it. */
let key = readKey();

/** The header by which the daemon sees that a page of its own asks: a cookie alone is sent to every port of this host. */
export function keyHeaders(): Record<string, string> {
  return key === "" ? {} : { [pageKeyHeader]: key };
}

/** The address of a WebSocket of the daemon, with the key in its query: browsers set no header there. */
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
    // It is kept above.
  }
}

function readKey(): string {
  try {
    return localStorage.getItem(keyName) ?? "";
  } catch {
    return "";
  }
}
