import type { ForgeRepository } from "../../ports/forge.ts";

/**
 * The repository behind the address of a remote; undefined where it is none of a forge, such as a folder. Credentials in
 * the address are left behind.
 */
export function readRemote(address: string): ForgeRepository | undefined {
  const written = address.trim();
  const found = written.includes("://") ? readUrl(written) : readScp(written);
  const [, owner, name] = found === undefined ? [] : (ownerAndName.exec(found.path) ?? []);
  if (found === undefined || owner === undefined || name === undefined || /^\.+(git)?$/.test(name)) return undefined;
  return { host: hosts[found.host] ?? found.host, owner, name };
}

const ownerAndName = /^\/*([A-Za-z0-9][\w-]*)\/([\w.-]+?)(?:\.git)?\/*$/;

/** Other names by which GitHub can be reached; the first one is for networks that let only port 443 through. */
const hosts: Readonly<Record<string, string>> = { "ssh.github.com": "github.com", "www.github.com": "github.com" };

interface Found {
  readonly host: string;
  readonly path: string;
}

function readUrl(written: string): Found | undefined {
  if (!URL.canParse(written)) return undefined;
  const { protocol, hostname, host, pathname } = new URL(written);
  if (protocol === "https:" || protocol === "http:") return { host: host.toLowerCase(), path: pathname };
  if (!/^(git\+)?ssh:$|^git:$/.test(protocol) || hostname === "") return undefined;
  // The port is that of the ssh server, and says nothing about where the API is.
  return { host: hostname.toLowerCase(), path: pathname };
}

/** `git@github.com:owner/name.git`. A single letter before the colon is a drive of Windows. */
function readScp(written: string): Found | undefined {
  const [, host, path] = /^(?:[^@/\\]+@)?([A-Za-z0-9][A-Za-z0-9.-]+):([^:\\]+)$/.exec(written) ?? [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), path };
}
