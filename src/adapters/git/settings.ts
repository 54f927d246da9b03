import { join } from "node:path";

export type Protocol = "file" | "https" | "ssh";

/** ours: only our settings apply. user: the user's own configuration applies, as when they run git themselves. */
export type Configuration = "ours" | "user";

/** The whole environment of a git process. It inherits only the variables that are named here. */
export function gitEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  configuration: Configuration,
  protocols: readonly Protocol[],
): Readonly<Record<string, string>> {
  const names = configuration === "ours" ? ["PATH", "TMPDIR"] : namesForUser;
  const taken = names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return {
    ...Object.fromEntries(taken),
    ...(configuration === "ours"
      ? {
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_ATTR_NOSYSTEM: "1",
          // A missing object is a fault here. Git must not fetch it from a remote that an agent may have configured.
          GIT_NO_LAZY_FETCH: "1",
          // For reflogs only; commits get their own author and committer.
          GIT_COMMITTER_NAME: "Signalbox",
          GIT_COMMITTER_EMAIL: "signalbox@localhost",
        }
      : {}),
    // We parse git's messages.
    LC_ALL: "C",
    // No person can answer a prompt.
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    SSH_ASKPASS_REQUIRE: "never",
    GIT_EDITOR: ":",
    GIT_PAGER: "cat",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git would refuse every fetch from and into a repository with one broken branch. We delete no unreachable object.
    GIT_REF_PARANOIA: "0",
    // Applies also to the git process at the other end of a local fetch, which our flags do not reach.
    GIT_ALLOW_PROTOCOL: protocols.length === 0 ? "none" : protocols.join(":"),
  };
}

/** Settings that come before the command. They override every configuration file. */
export function gitFlags(configuration: Configuration, protocols: readonly Protocol[]): readonly string[] {
  const settings = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.askPass=",
    // By default git fsyncs little; a merge that we have recorded must survive a power cut.
    "core.fsync=all",
    "core.fsyncMethod=fsync",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    // Several of our git processes may move refs at the same moment.
    "core.filesRefLockTimeout=1000",
    "core.packedRefsTimeout=1000",
    "protocol.allow=never",
    ...protocols.map((protocol) => `protocol.${protocol}.allow=always`),
    ...(configuration === "ours" ? ["credential.helper=", "core.attributesFile=/dev/null"] : []),
  ];
  return ["--no-pager", ...settings.flatMap((setting) => ["-c", setting])];
}

/** Variables through which git finds the user's configuration, keys and proxies. */
const namesForUser = [
  "PATH",
  "TMPDIR",
  "HOME",
  "USER",
  "LOGNAME",
  "XDG_CONFIG_HOME",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "SSH_AUTH_SOCK",
  "GIT_SSH_COMMAND",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  ...["http_proxy", "https_proxy", "all_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]),
];

/** The global ignore file that git uses if the user has configured none. */
export function ignoreFileOf({
  HOME,
  XDG_CONFIG_HOME,
}: Readonly<Record<string, string | undefined>>): string | undefined {
  const folder = XDG_CONFIG_HOME || (HOME && join(HOME, ".config"));
  return folder && join(folder, "git", "ignore");
}
