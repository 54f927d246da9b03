import { Fault } from "../../../fault.ts";
import { readIncluded } from "./read-included.ts";
import { runGh } from "./run-gh.ts";
import { apiUrlOf, type GithubRequest, type GithubTransport, hideAll } from "./transport.ts";

export interface GhTransportOptions {
  readonly host: string;
  /** Our own environment; gh sees what it needs of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds for a request. */
  readonly timeout?: number;
}

/** Speaks to GitHub through the program `gh`, which knows how the person has logged in. */
export function ghTransport({ host, env, timeout = 30_000 }: GhTransportOptions): GithubTransport {
  const howToLogIn = `Log in with gh auth login --hostname ${host}`;
  const hide = hideAll(
    Object.entries(env).flatMap(([name, value]) => (/^(GH|GITHUB)_.*TOKEN$/.test(name) ? value : [])),
  );
  return {
    apiUrl: apiUrlOf(host),
    howToLogIn,
    hide,
    async send(request) {
      const { code, stdout, stderr } = await runGh({
        host,
        argv: argvOf(host, request),
        input: request.body,
        env,
        timeout,
      });
      // It ends with 1 for every answer that is not 2xx, but prints the answer all the same.
      const response = readIncluded(stdout);
      if (response !== undefined && (code === 0 || response.status >= 300)) return response;
      if (code === 4) throw new Fault("forge.unauthorized", `"gh" is not logged in to ${host}.`, { hint: howToLogIn });
      throw new Fault("forge.unreachable", `"gh" brought no answer from ${host}: ${hide(lastLine(stderr))}`, {
        retry: "later",
        hint: "It is tried again. If that does not help, try gh auth status",
      });
    },
  };
}

function argvOf(host: string, { method, path, headers, body }: GithubRequest): readonly string[] {
  const shown = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const input = body === undefined ? [] : ["--input", "-"];
  return ["api", "--hostname", host, "--method", method, "--include", ...shown, ...input, path];
}

function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return (lines.at(-1) ?? "it said nothing").replace(/\p{Cc}+/gu, " ").slice(0, 300);
}
