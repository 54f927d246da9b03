import { lstat, mkdir, realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import type { CodexPorts } from "./codex-ports.ts";
import { ignoredFolders } from "./ignored-folders.ts";
import { tomlText } from "./toml-text.ts";

const profile = "signalbox-reduced";
/** Tests may start servers and talk to them; what others have started is out of their reach. */
const network = { enabled: true, dangerously_allow_all_unix_sockets: true, allow_local_binding: true };

/**
 * Settings under which the system lets commands read everything, and write only: the task file, what git ignores, and
 * temporary files. The network is closed but for sockets of this machine's own, by which our command line reaches the
 * daemon.
 */
export async function reducedSettings(
  order: HarnessOrder,
  ports: CodexPorts,
): Promise<readonly (readonly [key: string, value: string])[]> {
  const temporary = join(order.runFolder, "tmp");
  await mkdir(temporary, { recursive: true });
  const ignored = await ignoredFolders(await realpath(order.folder), ports);
  const access = {
    ":root": "read",
    ...open(ignored.filter((path) => !pattern.test(path))),
    ...open(order.taskFile === "" ? [] : [checked(await ownName(order.taskFile))]),
    ...open([checked(await realpath(temporary))]),
    ...Object.fromEntries(ways(order, ports).map((path) => [path, "deny"])),
  };
  return [
    ["default_permissions", tomlText(profile)],
    [`permissions.${profile}.filesystem`, tomlText(access)],
    // Only with its proxy does Codex tell sockets of the machine's own from others. No host is named, so none is let through.
    ["features.network_proxy", "true"],
    [`permissions.${profile}.network`, tomlText(network)],
    ["shell_environment_policy.set.TMPDIR", tomlText(temporary)],
    ["web_search", tomlText("disabled")],
  ];
}

/** In such names Codex sees patterns, with which nothing can be opened. */
const pattern = /[*?[\]{}]/;

function checked(path: string): string {
  if (!pattern.test(path)) return path;
  throw new Fault("harness.reduced", `Codex cannot open "${path}" to a run: it takes the name for a pattern.`, {
    hint: "Put it where no folder has one of *?[]{} in its name, or let another harness do it.",
  });
}

/**
 * Codex takes whatever is open for a folder, and closes some names in it. In a file there can be none, and then no
 * command is run at all; in a folder it makes them, and leaves them behind when it is killed. So these are opened too.
 */
function open(paths: readonly string[]): Readonly<Record<string, string>> {
  const names = ["", "/.git", "/.codex", "/.agents", "/.aws"];
  return Object.fromEntries(paths.flatMap((path) => names.map((name) => [`${path}${name}`, "write"])));
}

/** Where the task file is. Were it a link, whoever made that would open what it leads to. */
async function ownName(file: string): Promise<string> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() && found.nlink === 1) return join(await realpath(dirname(file)), basename(file));
  throw new Fault(
    "harness.reduced",
    `"${file}" cannot be opened to a run: it is not there, or is no file of its own.`,
    {
      hint: "Put the task file back in its place.",
    },
  );
}

/** Whoever listens there does what it is asked to, outside of the sandbox. It matters not whether they exist. */
function ways({ env }: HarnessOrder, { hidden }: CodexPorts): readonly string[] {
  const terminals = join(env.TMUX_TMPDIR || "/tmp", `tmux-${userInfo().uid}`);
  const daemons = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman", "/run/containerd"];
  return [...hidden, terminals, ...daemons, env.SSH_AUTH_SOCK ?? ""].filter(isAbsolute);
}
