import { existsSync, lstatSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { chooseTools } from "../../engine/tools.ts";
import type { RunSpec } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { findProgram, isProgram } from "../../find-program.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import { type Places, packageRoot } from "../../home/places.ts";
import type { Harness, HarnessOrder, Launch } from "../../ports/harness.ts";
import type { Sandbox, SandboxPlan } from "../../ports/sandbox.ts";
import type { Store } from "../../ports/store.ts";
import type { Log } from "../../ports/system.ts";
import { concealedFolders } from "./concealed-folders.ts";

interface ConfinePorts {
  /** Where it is missing, no run is confined. */
  readonly sandbox?: Sandbox;
  readonly places: Places;
  /** Signalbox's home. */
  readonly home: string;
  readonly log: Log;
  config(): AgentConfig;
  readonly store: Pick<Store, "listProjects">;
}

interface RunToConfine {
  readonly project: string;
  readonly spec: RunSpec;
  readonly harness: Harness;
  readonly order: HarnessOrder;
  readonly launch: Launch;
}

export interface ConfinedLaunch extends Launch {
  /** Whether it is started in a sandbox. */
  readonly isConfined: boolean;
}

/** Puts the program of a run into a sandbox, as the user's setting and the workflow say. */
export type Confine = (run: RunToConfine) => Promise<ConfinedLaunch>;

export function createConfine(ports: ConfinePorts): Confine {
  const { sandbox, log, config } = ports;
  const warned = new Set<string>();
  return async (run) => {
    const { spec, harness, order, launch } = run;
    const choice = sandboxChoice(config(), spec);
    const problem = choice === "off" ? undefined : await whyNot(sandbox, order.folder);
    if (choice === "on" && problem !== undefined) throw refusal(spec, problem);
    if (choice === "off" || problem !== undefined || sandbox === undefined) {
      if (spec.network === "off" || spec.network === "proxy")
        throw unsafeNetwork(spec, problem?.reason ?? "Its sandbox is off.");
      if (problem !== undefined && !warned.has(problem.reason)) {
        warned.add(problem.reason);
        log.warn(`Agents run without a sandbox: ${problem.reason} ${problem.fix}`);
      }
      return { ...launch, isConfined: false };
    }
    if (spec.network === "off" && harness.needsNetwork)
      throw new Fault("sandbox.network", `${harness.title} cannot work without the network.`, {
        hint: `Choose another harness for the ${spec.role}, or remove "network: off" from the workflow`,
      });
    if (spec.network === "proxy" && harness.needsNetwork && harness.hosts === undefined)
      throw new Fault("sandbox.network", `${harness.title} cannot work through a proxy.`, {
        hint: `Choose another harness for the ${spec.role}, or remove "network: proxy" from the workflow`,
      });
    const argv = await sandbox.wrap(await planOf(ports, run));
    return { ...launch, argv, env: innerEnvironment(launch.env), isConfined: true };
  };
}

/** The user's `on` holds whatever a workflow says. Otherwise the workflow's word counts before the user's. */
export function sandboxChoice(
  { agentsSandbox }: Pick<AgentConfig, "agentsSandbox">,
  { sandbox }: Pick<RunSpec, "sandbox">,
): "auto" | "on" | "off" {
  return agentsSandbox === "on" ? "on" : (sandbox ?? agentsSandbox);
}

/** A run that can neither write nor execute anything changes nothing, whatever its permissions are called. */
export function mayChangeFiles({ permissions, tools }: Pick<HarnessOrder, "permissions" | "tools">): boolean {
  const { classes } = chooseTools(tools);
  return permissions === "full" && (classes.has("write") || classes.has("execute"));
}

interface Problem {
  readonly reason: string;
  readonly fix: string;
}

/** Why runs in this folder cannot be confined; undefined if they can. */
async function whyNot(sandbox: Sandbox | undefined, folder: string): Promise<Problem | undefined> {
  const none = { works: false, reason: "This daemon has no sandbox.", fix: "" } as const;
  const state = (await sandbox?.detect()) ?? none;
  if (!state.works) return state;
  if (lstatSync(join(folder, ".git"), { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return {
    reason: "Workspaces of kind worktree share the .git of your repository, so a sandbox could not protect it.",
    fix: "Use clones: signalbox project update NAME --workspaces clone",
  };
}

function refusal({ role }: RunSpec, { reason, fix }: Problem): Fault {
  return new Fault("sandbox.missing", `The ${role} must run in a sandbox, and none can be made. ${reason}`, {
    hint: [fix, "Or do without: signalbox config set agents.sandbox auto"].filter((line) => line !== "").join("\n"),
  });
}

function unsafeNetwork({ role, network }: RunSpec, reason: string): Fault {
  return new Fault("sandbox.network", `The network can be closed to the ${role} only in a sandbox. ${reason}`, {
    hint: `Make the sandbox possible (signalbox doctor), or remove "network: ${network}" from the workflow`,
  });
}

/** Where the caches of sandboxed agents are. Those of a project's judges are apart from those of its workers. */
function cacheFolder(home: string, project: string, { permissions }: HarnessOrder): string {
  return join(home, "caches", project, permissions);
}

/** What a run finds in its sandbox. Creates its folders for caches. */
async function planOf({ places, home, config, store }: ConfinePorts, run: RunToConfine): Promise<SandboxPlan> {
  const { project, harness, order, launch } = run;
  const { folder, runFolder, taskFile } = order;
  const user = launch.env.HOME || homedir();
  const needed = (await harness.folders?.(order)) ?? {};
  const isForeign = (path: string) => path !== home && !path.startsWith(`${home}${sep}`);
  const ownPaths = (paths: readonly string[]) => paths.map((path) => expanded(path, user)).filter(isForeign);
  const { agentsSandboxRead, agentsSandboxWrite } = config();
  const repositories = (await store.listProjects()).map(({ path }) => path);
  // What the user opens is open, with everything in it.
  const opened = ownPaths([...agentsSandboxRead, ...agentsSandboxWrite]).map((path) => `${path}${sep}`);
  return {
    argv: launch.argv,
    folder,
    // A run that judges or plans changes only its task file.
    work: mayChangeFiles(order) ? "write" : { files: taskFile === "" ? [] : [taskFile] },
    home: user,
    closed: home,
    read: [
      ...programFolders(launch, user).filter(isForeign),
      ...toolchains.map((name) => join(user, name)),
      ...[packageRoot(), ...installFolders(process.execPath, user)],
      // The folder of the socket, and not the socket: a daemon that is started again makes another socket in it.
      ...[places.bin, dirname(places.socket), join(places.control, `${project}.git`, "objects"), runFolder],
      ...(needed.read ?? []).map((path) => expanded(path, user)).flatMap((path) => withInstallation(path, user)),
      ...ownPaths(agentsSandboxRead),
    ],
    write: [
      ...(order.env.SIGNALBOX_EVENTS === undefined ? [] : [dirname(order.env.SIGNALBOX_EVENTS)]),
      ...(needed.write ?? []).map((path) => expanded(path, user)),
      ...ownPaths(agentsSandboxWrite),
    ],
    own: [...temporaryFolders(launch.env, runFolder), ...(needed.own ?? [])],
    hidden: [...secretsOfToolchains.map((name) => join(user, name)), ...(needed.hidden ?? [])],
    concealed: concealedFolders(repositories, user).filter(
      (path) => !opened.some((each) => `${path}${sep}`.startsWith(each)),
    ),
    placed: [...(await cachesIn(cacheFolder(home, project, order), user, launch.env)), ...(needed.placed ?? [])],
    network: networkOf(run, config()),
    nests: needed.nests ?? false,
  };
}

function networkOf({ spec, harness, order, launch }: RunToConfine, config: AgentConfig): SandboxPlan["network"] {
  if (spec.network !== "proxy") return spec.network === "off" ? "closed" : "open";
  const hosts = [...(harness.hosts ?? []), ...serversIn(launch.env), ...config.agentsNetworkAllow];
  return { folder: join(order.runFolder, proxyFolder), hosts: [...new Set(hosts)] };
}

/** The servers that the user's variables name instead of a harness's own, such as `ANTHROPIC_BASE_URL`. */
function serversIn(env: Launch["env"]): readonly string[] {
  const named = Object.entries(env).filter(([name]) => /_(BASE_URL|ENDPOINT)$/.test(name));
  return named.flatMap(([, value]) => {
    const url = URL.parse(value);
    return url === null || url.hostname === "" ? [] : [url.host];
  });
}

/** The folder of a run in which its proxy has its socket and notes what it refused. */
export const proxyFolder = "proxy";

function expanded(path: string, user: string): string {
  return path.startsWith("~/") ? join(user, path.slice(2)) : path;
}

/** In the user's home: compilers, interpreters and programs. Agents can run them, and not change them. */
const toolchains = [
  ...[".nvm", ".volta", ".fnm", ".local/share/fnm", ".asdf", ".local/share/mise", ".bun", ".deno", ".pyenv", ".rbenv"],
  ...[".rustup", ".cargo", "go", ".sdkman", ".ghcup", ".juliaup", "miniconda3", "anaconda3"],
  ...[".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv"],
];
const secretsOfToolchains = [".cargo/credentials", ".cargo/credentials.toml"];
/**
 * In the user's home: where package managers keep what they have downloaded. Agents have caches of their own there: code
 * that an agent puts into the user's would run outside of the sandbox one day.
 */
const caches = [
  ...[".npm", ".yarn", ".local/share/pnpm", ".bun/install/cache", ".cargo/registry", ".cargo/git", "go/pkg/mod"],
  ...[".gradle", ".m2/repository", ".ivy2", ".nuget/packages", ".pub-cache"],
];

async function cachesIn(folder: string, user: string, env: Launch["env"]): Promise<SandboxPlan["placed"]> {
  const found = caches.filter((name) => existsSync(join(user, name)));
  const places = [
    { name: "cache", at: env.XDG_CACHE_HOME || join(user, ".cache") },
    ...[...new Set([".npm", ...found])].map((name) => ({
      name: name.replaceAll("/", "-").replace(/^\./, ""),
      at: join(user, name),
    })),
  ];
  return Promise.all(
    places.map(async ({ name, at }) => {
      const from = join(folder, name);
      await mkdir(from, { recursive: true, mode: 0o700 });
      return { from, at };
    }),
  );
}

/** The folders of the run's PATH, and where its program really is. */
function programFolders({ argv, env }: Launch, user: string): readonly string[] {
  const path = env.PATH ?? "";
  const program = findProgram(argv[0] ?? "", path);
  return [
    ...path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? installFolders(join(folder, "x"), user) : [])),
    ...(program === "" ? [] : [program, realOf(program)].flatMap((each) => installFolders(each, user))),
  ];
}

/**
 * The folder of a program, and the folder with the libraries that belong to it: that of all packages, or the one in which
 * its `bin` is. Never a folder as wide as the user's home.
 */
export function installFolders(program: string, user: string): readonly string[] {
  const folder = dirname(program);
  const packages = /^.*?\/node_modules(?=\/)/.exec(program)?.[0];
  const prefix = folder.endsWith(`${sep}bin`) && isInstallation(dirname(folder)) ? dirname(folder) : undefined;
  const wide = ["/", "/usr", "/tmp", "/var/tmp", "/home", join(user, ".local")];
  return [folder, packages, prefix].filter(
    (path) => path !== undefined && !wide.includes(path) && !`${user}${sep}`.startsWith(`${path}${sep}`),
  ) as readonly string[];
}

/** A path, and if it is a program also where it really is, with the packages that belong to it. */
function withInstallation(path: string, user: string): readonly string[] {
  return isProgram(path) ? [path, ...[path, realOf(path)].flatMap((each) => installFolders(each, user))] : [path];
}

/** A Node, a virtual environment of Python, or a conda. */
function isInstallation(folder: string): boolean {
  return ["lib/node_modules", "pyvenv.cfg", "conda-meta"].some((name) => existsSync(join(folder, name)));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Without variables that name what is not there. */
function innerEnvironment({ SSH_AUTH_SOCK: _agent, XDG_RUNTIME_DIR: _runtime, ...rest }: Launch["env"]): Launch["env"] {
  return rest;
}

/** Another folder for temporary files than /tmp: it is empty too. */
function temporaryFolders({ TMPDIR = "" }: Launch["env"], runFolder: string): readonly string[] {
  const isOther = isAbsolute(TMPDIR) && TMPDIR !== "/" && !TMPDIR.startsWith(`${runFolder}${sep}`);
  return isOther ? [resolve(TMPDIR)] : [];
}
