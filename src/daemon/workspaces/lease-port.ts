import { Fault } from "../../fault.ts";
import type { PortRange } from "../../home/read-ports.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { BindPorts } from "./bind-workspace.ts";

/** Gives a bound workspace a port that no other bound one of the whole home has: the one it had, else the first. */
export function leasePort(
  { store, inTurn }: Pick<BindPorts, "store" | "inTurn">,
  workspace: Workspace,
  range: PortRange | undefined,
): Promise<Workspace> {
  return inTurn("ports", async () => {
    const { port: own, ...rest } = workspace;
    const port = range === undefined ? undefined : await choose(store, workspace, range);
    if (port === own) return workspace;
    const leased = port === undefined ? rest : { ...rest, port };
    await store.workspaces.put(leased);
    return leased;
  });
}

async function choose(store: Store, { id, port: own }: Workspace, { first, last }: PortRange): Promise<number> {
  const others = (await store.workspaces.list({})).filter((each) => each.task !== "" && each.id !== id);
  const taken = new Set(others.map(({ port }) => port));
  if (own !== undefined && own >= first && own <= last && !taken.has(own)) return own;
  for (let port = first; port <= last; port++) if (!taken.has(port)) return port;
  throw new Fault("ports.taken", `All ports from ${first} to ${last} are taken by other workspaces.`, {
    retry: "later",
    hint: "Name more of them: signalbox config set ports 20000-29999",
  });
}
