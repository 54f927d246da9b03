import { Fault } from "../../fault.ts";
import type { Protocol } from "./git-environment.ts";
import type { RunOptions } from "./git-runner.ts";

/** How git may reach a remote: by what its address says, and in no other way. */
export function remoteOptions(address: string): RunOptions & { readonly protocols: readonly Protocol[] } {
  return { protocols: [protocolOf(address)], isRemote: true, isLong: true };
}

function protocolOf(address: string): Protocol {
  if (address.startsWith("/") || address.startsWith("file://")) return "file";
  if (address.startsWith("https://")) return "https";
  // The short form, `git@host:path`, is ssh's too.
  if (address.startsWith("ssh://") || /^[\w.-]+(@[\w.-]+)?:(?!:|\/\/)/.test(address)) return "ssh";
  throw new Fault("git.remote-refused", "The remote's address is none that begins with https:// or ssh://.", {
    hint: "Look at it: git remote --verbose",
  });
}
