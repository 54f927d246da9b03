/** What one end of a gate is told: its only argument before the command that it starts. */
export interface GateOrder {
  readonly end: "outside" | "inside";
  /** The folder of the socket. */
  readonly folder: string;
  readonly hosts: readonly string[];
}

export function gateArguments(order: GateOrder, command: readonly string[]): readonly string[] {
  return [JSON.stringify(order), ...command];
}

/**
 * The variables by which programs find their proxy. Programs connect directly to loopback addresses, which are the
 * sandbox's own, unless the list has them: then the machine's are meant.
 */
export function proxyVariables(port: number, hosts: readonly string[]): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  const own = ["localhost", "127.0.0.1", "::1"];
  const direct = own.filter((name) => !hosts.some((host) => host === name || host.startsWith(`${name}:`))).join(",");
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: direct };
  // Some programs know only the lower case, some only the upper case, and Node neither without being told.
  return { ...upper, http_proxy: proxy, https_proxy: proxy, no_proxy: direct, NODE_USE_ENV_PROXY: "1" };
}
