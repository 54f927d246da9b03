import { Fault } from "../../../fault.ts";
import { saidIn } from "./said-in.ts";
import type { GithubRequest, GithubResponse, GithubTransport } from "./transport.ts";

/** Why GitHub did not do what it was asked, and what helps. */
export function faultOf(request: GithubRequest, response: GithubResponse, transport: GithubTransport): Fault {
  const { status } = response;
  const said = transport.hide(saidIn(response.body));
  const answer = `(${status}${said === "" ? "" : `: ${said}`})`;
  const where = `GitHub at ${new URL(transport.apiUrl).host}`;
  const [path = ""] = request.path.split("?");
  if (status >= 500 || status === 408)
    return new Fault("forge.unreachable", `${where} failed ${answer}.`, { retry: "later", hint: "It is tried again." });
  if (status === 401)
    return new Fault("forge.unauthorized", `${where} does not take our credential ${answer}.`, {
      hint: transport.howToLogIn,
    });
  if (status === 403)
    return new Fault("forge.forbidden", `${where} does not allow ${request.method} ${path} ${answer}.`, {
      hint: permissionHint(response) ?? "Check that the account may do this, and that the repository is not archived.",
    });
  if (status === 404)
    return new Fault("forge.missing", `${where} has no ${path}, or does not show it to us ${answer}.`, {
      hint:
        permissionHint(response) ??
        `Check the remote's address, and that the account may see the repository. ${transport.howToLogIn}`,
    });
  return new Fault("forge.invalid", `${where} does not take ${request.method} ${path} ${answer}.`);
}

/** GitHub says in headers what it would have needed. */
function permissionHint({ headers }: GithubResponse): string | undefined {
  const [, sso] = /url=([^;,\s]+)/.exec(headers["x-github-sso"] ?? "") ?? [];
  if (sso !== undefined) return `The organization wants single sign-on: authorize the token at ${sso}`;
  const permissions = headers["x-accepted-github-permissions"];
  if (permissions) return `The token needs the permission ${permissions.replaceAll(";", " or")}.`;
  const [has, needs] = [scopesIn(headers["x-oauth-scopes"]), scopesIn(headers["x-accepted-oauth-scopes"])];
  if (headers["x-oauth-scopes"] === undefined || needs.length === 0 || needs.some((scope) => has.includes(scope)))
    return undefined;
  const owned = has.length === 0 ? "no scope" : `the scope ${has.join(", ")}`;
  return `The token needs the scope ${needs.join(" or ")}, and has ${owned}.`;
}

function scopesIn(header: string | undefined): readonly string[] {
  return (header ?? "").split(/,\s*/).filter((scope) => scope !== "");
}
