/** Carries one request to GitHub and brings back the answer, whatever it says. Faults are about the way alone. */
export interface GithubTransport {
  /** What all paths are below: `https://api.github.com`. */
  readonly apiUrl: string;
  /** What a person does so that GitHub believes us; a sentence. */
  readonly howToLogIn: string;
  send(request: GithubRequest): Promise<GithubResponse>;
  /** Takes what is secret out of a text: servers like to repeat what they were sent. */
  hide(text: string): string;
}

export interface GithubRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the root of the API, without a slash in front, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string | undefined;
}

export interface GithubResponse {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** More than the largest page there is; an answer that never ends must not fill the memory. */
export const mostBytes = 32 * 1024 * 1024;

/** The root of the API of a host. */
export function apiUrlOf(host: string): string {
  if (host === "github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `https://api.${host}` : `https://${host}/api/v3`;
}

/** Takes these secrets out of a text. */
export function hideAll(secrets: readonly (string | undefined)[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret !== undefined && secret.length > 2) as readonly string[];
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
}
