import type { Field } from "./config-fields.ts";

/** Where browsers reach the daemon. */
export interface WebConfig {
  /** 0: no TCP, unless `signalbox web` has opened a port. */
  readonly port: number;
  /** The origin of a tunnel or proxy; empty for none. */
  readonly webAddress: string;
}

export const webFields: { readonly [Name in keyof WebConfig]: Field<WebConfig[Name]> } = {
  port: {
    key: "port",
    level: "user",
    shape: { kind: "integer", min: 0, max: 65_535 },
    default: 0,
    description: "The TCP port of the web API and the page; 0 for none until signalbox web opens one",
  },
  webAddress: {
    key: "web.address",
    level: "user",
    isDaemons: true,
    shape: { kind: "text" },
    default: "",
    description:
      "The address of a tunnel or proxy that leads to that port, such as https://box.example.ts.net, for browsers elsewhere; empty for none",
    problem: (address) =>
      address === "" || originIn(address) !== undefined
        ? undefined
        : `"address" must be https://HOST, or http://localhost:PORT for an ssh tunnel, without a path, but is "${address}".`,
  },
};

/** The origin as browsers write it; empty where none is set. */
export function publicOrigin({ webAddress = "" }: { readonly webAddress?: string | undefined }): string {
  return originIn(webAddress) ?? "";
}

/** Without https anybody on the way could read the cookie, except on this machine. */
function originIn(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || url.pathname !== "/" || /[?#]/.test(address) || url.username !== "" || url.password !== "")
    return undefined;
  const isSafe =
    url.protocol === "https:" || (url.protocol === "http:" && /^(localhost|127\.0\.0\.1)$/.test(url.hostname));
  return isSafe ? url.origin : undefined;
}
