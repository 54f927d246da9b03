import { mkdir, readdir, realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import type { CodexPorts } from "./codex-ports.ts";
import { ignoredFolders } from "./ignored-folders.ts";
import { tomlText } from "./toml-text.ts";

const profile = "signalbox-reduced";

/**
 * Settings under which the system lets commands read everything, and write only: what git ignores, temporary files, and
 * where the task file is. The network is closed but for sockets of this machine's own, by which our command line
 * reaches the daemon.
 */
export async function reducedSettings(
  order: HarnessOrder,
  ports: CodexPorts,
): Promise<readonly (readonly [key: string, value: string])[]> {
  const temporary = join(order.runFolder, "tmp");
  await mkdir(temporary, { recursive: true });
  const access = {
    ":root": "read",
    ...(await writable(order, ports)),
    [await realpath(temporary)]: "write",
    ...Object.fromEntries(ways(order, ports).map((path) => [path, "deny"])),
  };
  // Codex would take such a name for a pattern.
  const odd = Object.keys(access).find((path) => /[*?[\]{}]/.test(path));
  if (odd !== undefined) {
    throw new Fault(
      "harness.reduced",
      `Codex cannot be kept from writing to "${odd}": it takes the name for a pattern.`,
      {
        hint: "Rename it, or let another harness do what needs reduced permissions.",
      },
    );
  }
  return [
    ["default_permissions", tomlText(profile)],
    [`permissions.${profile}.filesystem`, tomlText(access)],
    // Only with its proxy does Codex tell sockets of the machine's own from all others. No host is named, so none is let through.
    ["features.network_proxy", "true"],
    [`permissions.${profile}.network`, tomlText({ enabled: true, dangerously_allow_all_unix_sockets: true })],
    ["shell_environment_policy.set.TMPDIR", tomlText(temporary)],
    ["web_search", tomlText("disabled")],
  ];
}

/** Codex can open folders, not single files. So where the task file has others beside it, these are closed one by one. */
async function writable(order: HarnessOrder, ports: CodexPorts): Promise<Readonly<Record<string, string>>> {
  const folder = await realpath(order.folder);
  const ignored = await ignoredFolders(folder, ports);
  const open = Object.fromEntries(ignored.map((each) => [each, "write"]));
  if (order.taskFile === "") return open;
  const around = await realpath(dirname(order.taskFile));
  if (around !== folder) return { ...open, [around]: "write" };
  const names = await readdir(folder);
  const closed = names
    .map((name) => join(folder, name))
    .filter((path) => path !== join(folder, taskName(order)) && open[path] === undefined);
  return { [folder]: "write", ...Object.fromEntries(closed.map((path) => [path, "read"])), ...open };
}

/** Whoever listens there does what it is asked to, outside of the sandbox. It matters not whether they exist. */
function ways({ env }: HarnessOrder, { hidden }: CodexPorts): readonly string[] {
  const terminals = join(env.TMUX_TMPDIR || "/tmp", `tmux-${userInfo().uid}`);
  const daemons = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman", "/run/containerd"];
  return [...hidden, terminals, ...daemons, env.SSH_AUTH_SOCK ?? ""].filter(isAbsolute);
}

function taskName({ taskFile }: HarnessOrder): string {
  return taskFile.slice(dirname(taskFile).length + 1);
}
