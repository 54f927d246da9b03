import { findProgram } from "../../find-program.ts";
import type { Sandbox, SandboxPlan, SandboxState } from "../../ports/sandbox.ts";
import type { Commands } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import { gateArguments } from "./gate-order.ts";
import { type Mount, mountsOf } from "./mounts.ts";

interface BubblewrapPorts {
  readonly commands: Commands;
  /** The daemon's environment: `PATH`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  /** The command line of `gate.ts`; missing where no program has a proxy. */
  readonly gate?: readonly string[];
}

/** What this version of the program, on this machine, accepts. */
interface Features {
  /** It can keep the program from making user namespaces of its own. */
  readonly forbidsNesting: boolean;
  /** The daemon runs as root. */
  readonly isRoot: boolean;
}

type Found = SandboxState & { readonly features: Features };

const detectTimeout = 10_000;
/** How long a failed check counts, in milliseconds: a person may repair it while the daemon runs. */
const failureTime = 60_000;

/** Sandboxes made with bubblewrap: namespaces of Linux, as root and as an ordinary user. */
export function bubblewrap({ commands, env, gate, platform = process.platform }: BubblewrapPorts): Sandbox {
  const PATH = env.PATH ?? "";
  const isRoot = process.getuid?.() === 0;
  let known: { readonly path: string; readonly found: Promise<Found>; readonly at: number } | undefined;
  const tryOut = async (path: string, features: Features) => {
    const argv = [path, ...bubblewrapArguments(mountsOf(probe), probe, features)];
    const { code, output } = await commands
      .run({ argv, cwd: "/", env: { PATH }, timeout: detectTimeout })
      .catch((error: unknown) => ({ code: undefined, output: String(error) }));
    return { works: code === 0, said: oneLine(output, 300) };
  };
  const look = async (path: string): Promise<Found> => {
    const features = { forbidsNesting: true, isRoot };
    const first = await tryOut(path, features);
    const isOld = !first.works && /disable-userns/.test(first.said);
    const { works, said } = isOld ? await tryOut(path, { forbidsNesting: false, isRoot }) : first;
    if (!works) return { works, features, reason: `bubblewrap cannot make a sandbox here: ${said}`, fix: howToAllow };
    const { output } = await commands
      .run({ argv: [path, "--version"], cwd: "/", env: { PATH }, timeout: detectTimeout })
      .catch(() => ({ output: "" }));
    const version = /\d+\.\d+[\w.]*/.exec(output)?.[0] ?? "";
    return { works, path, version, features: { forbidsNesting: !isOld, isRoot } };
  };
  const detect = async (): Promise<Found> => {
    const features = { forbidsNesting: true, isRoot };
    if (platform !== "linux")
      return {
        works: false,
        features,
        reason: "Sandboxes need Linux.",
        fix: "Run agents without: agents.sandbox: off",
      };
    const path = findProgram("bwrap", PATH);
    if (path === "")
      return { works: false, features, reason: "bubblewrap (bwrap) is not installed.", fix: howToInstall };
    const isStale = known !== undefined && performance.now() - known.at > failureTime && !(await known.found).works;
    if (known?.path !== path || isStale) known = { path, found: look(path), at: performance.now() };
    return known.found;
  };
  return {
    async detect() {
      const { features: _, ...state } = await detect();
      return state;
    },
    async wrap(plan) {
      const found = await detect();
      if (!found.works) throw new Error(found.reason);
      const { network, argv } = plan;
      const mounts = mountsOf(plan);
      if (typeof network === "string" || gate === undefined)
        return [found.path, ...bubblewrapArguments(mounts, plan, found.features)];
      const gated = [...gate, ...gateArguments({ end: "inside", ...network }, argv)];
      const inner = [found.path, ...bubblewrapArguments(mounts, { ...plan, argv: gated }, found.features)];
      return [...gate, ...gateArguments({ end: "outside", ...network }, inner)];
    },
  };
}

const howToInstall = "Install it: apt-get install bubblewrap, or with the package manager of your system";
const howToAllow =
  "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000. In a container, its host must allow them";

/** Everything that a real sandbox needs, with a program that does nothing. */
const probe: SandboxPlan = {
  ...{ argv: ["true"], folder: "/usr", work: { files: [] }, home: "/", closed: "/run/signalbox" },
  ...{ network: "open", nests: false, read: [], write: [], own: [], hidden: [], concealed: [], placed: [] },
};

/** The arguments of bubblewrap for these mounts. Pure. */
export function bubblewrapArguments(
  mounts: readonly Mount[],
  { argv, folder, network, nests }: Pick<SandboxPlan, "argv" | "folder" | "network" | "nests">,
  { forbidsNesting, isRoot }: Features,
): readonly string[] {
  return [
    ...["--unshare-user", ...(forbidsNesting && !nests ? ["--disable-userns"] : [])],
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(network === "open" ? [] : ["--unshare-net"]),
    // Everything inside dies with the program, and the program dies with what started it.
    ...["--die-with-parent", "--cap-drop", "ALL"],
    // Without it, Linux refuses to root another namespace inside. It counts for nothing outside.
    ...(nests && isRoot ? ["--cap-add", "CAP_SETFCAP"] : []),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...mounts.flatMap(mountArguments),
    ...mounts.flatMap((mount) => (mount.kind === "closed" ? ["--remount-ro", mount.at] : [])),
    ...["--remount-ro", "/", "--chdir", folder, "--", ...argv],
  ];
}

function mountArguments(mount: Mount): readonly string[] {
  const { at } = mount;
  switch (mount.kind) {
    case "empty":
    case "closed":
      return [...(mount.mode === undefined ? [] : ["--perms", mount.mode]), "--tmpfs", at];
    case "read":
      return ["--ro-bind", mount.from, at];
    case "write":
      return ["--bind", mount.from, at];
    case "link":
      return ["--symlink", mount.to, at];
    case "blank":
      return ["--ro-bind", "/dev/null", at];
  }
}
