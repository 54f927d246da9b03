import { spawn } from "node:child_process";
import { Fault } from "../../../fault.ts";
import { mostBytes } from "./transport.ts";

export interface GhCall {
  readonly host: string;
  readonly argv: readonly string[];
  /** What it can read. */
  readonly input?: string | undefined;
  /** Our own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds; then it is killed. */
  readonly timeout: number;
}

export interface GhResult {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `gh`. Unlike other commands it prints whole documents, apart from what it says about them. */
export function runGh({ host, argv, input = "", env, timeout }: GhCall): Promise<GhResult> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that the time limit reaches its children too.
    const child = spawn("gh", argv, { cwd: "/", env: environmentOf(host, env), detached: true });
    const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let size = 0;
    let failure: Fault | undefined;
    const stop = (fault: Fault) => {
      failure ??= fault;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => stop(tooSlow(timeout)), timeout);
    for (const channel of ["stdout", "stderr"] as const)
      child[channel].on("data", (part: Buffer) => {
        printed[channel].push(part);
        size += part.length;
        if (size > mostBytes) stop(new Fault("forge.garbled", 'What "gh" prints does not end.', { retry: "later" }));
      });
    // It may end without having read everything; its answer says why.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(notStarted(error));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      const [stdout, stderr] = [printed.stdout, printed.stderr].map((parts) => Buffer.concat(parts).toString("utf8"));
      if (failure !== undefined) reject(failure);
      else resolve({ code: code ?? undefined, stdout: stdout ?? "", stderr: stderr ?? "" });
    });
  });
}

/** What leads to the person's login and to the network, and nothing else of ours. */
const needed =
  /^(PATH|HOME|USER|LANG|XDG_(CONFIG|STATE|DATA|CACHE)_HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|GH_CONFIG_DIR|GH_HOST|(GH|GITHUB)_(ENTERPRISE_)?TOKEN|SSL_CERT_(FILE|DIR)|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;

function environmentOf(host: string, env: GhCall["env"]): Record<string, string> {
  // gh would give these to every host but GitHub's own, and anybody can write a host into a repository's remote.
  const isNamed = host === env.GH_HOST?.toLowerCase();
  const seen = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && needed.test(name) && (isNamed || !/_ENTERPRISE_/.test(name)) ? [[name, value] as const] : [],
  );
  // It must neither ask nor colour, page or advertise.
  const quiet = { NO_COLOR: "1", GH_PAGER: "cat", GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1" };
  return { ...Object.fromEntries(seen), ...quiet };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself in the meantime.
  }
}

function tooSlow(timeout: number): Fault {
  return new Fault("forge.unreachable", `"gh" brought no answer within ${timeout / 1000} s.`, {
    retry: "later",
    hint: "It is tried again. If that does not help, check the network.",
  });
}

function notStarted(error: NodeJS.ErrnoException): Fault {
  return new Fault("forge.gh-missing", `"gh" could not be started (${error.code ?? error.message}).`, {
    hint: "Install the GitHub CLI, or set GH_TOKEN to a token.",
    cause: error,
  });
}
