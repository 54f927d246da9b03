/** Confines a program: it sees, changes and reaches only what a plan names. */
export interface Sandbox {
  /** Checks whether programs can be confined on this machine. The result is cached. */
  detect(): Promise<SandboxState>;
  /** The command that runs a plan's program confined. Only for a machine on which that works. */
  wrap(plan: SandboxPlan): Promise<readonly string[]>;
}

export type SandboxState =
  | { readonly works: true; readonly path: string; readonly version: string }
  /** `fix` is what a person can do about it. */
  | { readonly works: false; readonly reason: string; readonly fix: string };

/** The program reaches the network through an HTTP proxy only, which lives and ends with it. */
export interface ProxiedNetwork {
  /** The folder of the proxy's socket and its notes, which the plan lets the program read. */
  readonly folder: string;
  /** `host`, `*.host` for its subdomains, or either with `:port`. Without a port, 80 and 443 are meant. */
  readonly hosts: readonly string[];
}

/** In the folder of the proxy: how often it refused which `host:port`, as JSON. */
export const refusedFile = "refused.json";

/** All paths are absolute. Paths that do not exist are left out. */
export interface SandboxPlan {
  readonly argv: readonly string[];
  /** The working folder. */
  readonly folder: string;
  /** Everything in the working folder is writable, or only these files in it. */
  readonly work: "write" | { readonly files: readonly string[] };
  /** The user's home. The program sees an empty folder there, with only what else the plan names. */
  readonly home: string;
  /** A folder of which the program sees only what else the plan names; it cannot create anything in it. */
  readonly closed: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Folders that the program finds empty and may write to. */
  readonly own: readonly string[];
  /** Paths inside of `read` and `write` that the program finds empty. */
  readonly hidden: readonly string[];
  /** Folders that the program finds empty where another mounted folder would show them, unless the plan names them itself. */
  readonly concealed: readonly string[];
  /** Writable folders that the program finds at another path. */
  readonly placed: readonly { readonly from: string; readonly at: string }[];
  /** `closed`: it has only sockets in the file system. */
  readonly network: "open" | "closed" | ProxiedNetwork;
  /** Whether it may make sandboxes of its own inside. */
  readonly nests: boolean;
}
