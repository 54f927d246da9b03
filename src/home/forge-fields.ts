import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-field.ts";

/** Where pull requests are opened. */
export interface ForgeConfig {
  readonly forge: "auto" | "github" | "none";
  /** Empty: github.com. */
  readonly forgeHost: string;
  /** Empty: where it is for that host. */
  readonly forgeApiUrl: string;
  /** Empty: the variables that gh reads. */
  readonly forgeTokenEnv: string;
  readonly forgeMerge: "merge" | "squash" | "rebase";
  /** Seconds. */
  readonly forgeInterval: number;
}

const text: Shape = { kind: "text" };

export const forgeFields: { readonly [Name in keyof ForgeConfig]: Field<ForgeConfig[Name]> } = {
  forge: {
    key: "forge",
    level: "user",
    shape: { kind: "text", oneOf: ["auto", "github", "none"] },
    default: "auto",
    description: "Where pull requests are opened; auto for GitHub where the remote is there and you are logged in",
  },
  forgeHost: {
    key: "forge_host",
    level: "user",
    shape: text,
    default: "",
    description: "The host that forge_api_url and forge_token_env are about; empty for github.com",
    problem: (host) => (/^[\w.:-]*$/.test(host) ? undefined : `"forge_host" must be a host, but is "${host}".`),
  },
  forgeApiUrl: {
    key: "forge_api_url",
    level: "user",
    shape: text,
    default: "",
    description: "Where the API of that host is; empty for the usual place",
    problem: (address) =>
      address === "" || /^https?:$/.test(URL.parse(address)?.protocol ?? "")
        ? undefined
        : `"forge_api_url" must be an http or https address, but is "${address}".`,
  },
  forgeTokenEnv: {
    key: "forge_token_env",
    level: "user",
    shape: text,
    default: "",
    description: "The variable of the environment that has the token for that host; empty for those that gh reads",
    // The value is not repeated: it may be the token itself.
    problem: (name) =>
      /^([A-Za-z_]\w*)?$/.test(name) ? undefined : '"forge_token_env" must be the name of a variable.',
  },
  forgeMerge: {
    key: "forge_merge",
    level: "user",
    shape: { kind: "text", oneOf: ["merge", "squash", "rebase"] },
    default: "merge",
    description: "How pull requests are merged",
  },
  forgeInterval: {
    key: "forge_interval",
    level: "user",
    shape: { kind: "integer", min: 5, max: 86_400 },
    default: 60,
    description: "How many seconds pass before a pull request is looked at again",
  },
};
