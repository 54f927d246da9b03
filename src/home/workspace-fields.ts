import { readDuration } from "../engine/duration.ts";
import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-field.ts";
import { readPorts } from "./read-ports.ts";
import { readSize } from "./read-size.ts";

/** What workspaces are made with. The daemon alone reads it. */
export interface WorkspaceConfig {
  readonly keep: readonly string[];
  readonly copy: readonly string[];
  readonly link: readonly string[];
  /** Commands are lists of arguments; an empty one is none. */
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  /** As `readDuration` takes it. */
  readonly setupTimeout: string;
  readonly testCommand: readonly string[];
  readonly testTimeout: string;
  readonly requireTests: boolean;
  /** As `readPorts` takes it; empty: no workspace gets a port. */
  readonly ports: string;
  /** As `readSize` takes it; empty: no limit. */
  readonly diskLimit: string;
  readonly trashDays: number;
  readonly trashLimit: string;
  /** As `readDuration` takes it; empty: for ever. */
  readonly keepEnded: string;
}

const text: Shape = { kind: "text" };
const list: Shape = { kind: "list", of: text };

const duration = (key: string) => (value: string) =>
  (readDuration(value) ?? 0) > 0 ? undefined : `"${key}" must be a time such as 90s, 10m or 2h, but is "${value}".`;

const size = (key: string) => (value: string) =>
  value === "" || readSize(value) !== undefined
    ? undefined
    : `"${key}" must be a size such as 500MB or 50GB, but is "${value}".`;

const patterns = (key: string) => (values: readonly string[]) => {
  const wrong = values.find((value) => value === "" || value.startsWith("/") || value.split("/").includes(".."));
  return wrong === undefined
    ? undefined
    : `"${key}" must name files inside of the repository, from its root, but has "${wrong}".`;
};

const command = (key: string) => (argv: readonly string[]) =>
  argv[0] === "" ? `"${key}" must begin with a program.` : undefined;

export const workspaceFields: { readonly [Name in keyof WorkspaceConfig]: Field<WorkspaceConfig[Name]> } = {
  keep: {
    key: "keep",
    level: "project",
    isDaemons: true,
    shape: list,
    default: ["node_modules", ".venv", "target"],
    description: "Folders that git ignores and that stay in a workspace for its next task, by their names",
    problem(names) {
      const wrong = names.find((name) => ["", ".", "..", ".git"].includes(name) || name.includes("/"));
      return wrong === undefined ? undefined : `"keep" must have names of folders, but has "${wrong}".`;
    },
  },
  copy: {
    key: "copy",
    level: "project",
    isDaemons: true,
    shape: list,
    default: [],
    description: "Files that git does not know and that every workspace gets a copy of, such as .env",
    problem: patterns("copy"),
  },
  link: {
    key: "link",
    level: "project",
    isDaemons: true,
    shape: list,
    default: [],
    description: "Files that git does not know and that every workspace gets a link to",
    problem: patterns("link"),
  },
  setup: {
    key: "setup",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that makes a workspace ready for a task, as a list of arguments",
    problem: command("setup"),
  },
  teardown: {
    key: "teardown",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that is run before a workspace is given back, as a list of arguments",
    problem: command("teardown"),
  },
  setupTimeout: {
    key: "setup_timeout",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "10m",
    description: "How long setup and teardown may take, each",
    problem: duration("setup_timeout"),
  },
  testCommand: {
    key: "test_command",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that runs the tests, as a list of arguments; without one it is found out",
    problem: command("test_command"),
  },
  testTimeout: {
    key: "test_timeout",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "30m",
    description: "How long the tests may take, where the workflow does not say",
    problem: duration("test_timeout"),
  },
  requireTests: {
    key: "require_tests",
    level: "project",
    isDaemons: true,
    shape: { kind: "boolean" },
    default: false,
    description: "Whether work fails its tests for which there are none to run",
  },
  ports: {
    key: "ports",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "20000-20999",
    description: "The ports of which each workspace at work has one for itself; empty for none",
    problem: (value) =>
      value === "" || readPorts(value) !== undefined
        ? undefined
        : `"ports" must be a range such as 20000-20999, between 1024 and 65535, but is "${value}".`,
  },
  diskLimit: {
    key: "disk_limit",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "50GB",
    description: "How much room workspaces and trash may take, all together; empty for any",
    problem: size("disk_limit"),
  },
  trashDays: {
    key: "trash_days",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 1 },
    default: 30,
    description: "How many days things stay in the trash before they are deleted",
  },
  trashLimit: {
    key: "trash_limit",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "10GB",
    description: "How much room the trash may take before the oldest in it is deleted; empty for any",
    problem: size("trash_limit"),
  },
  keepEnded: {
    key: "keep_ended",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "30d",
    description:
      "How long run folders, logs and refs of tasks stay that are over; empty: for ever. What is not merged always stays",
    problem: (value) => (value === "" ? undefined : duration("keep_ended")(value)),
  },
};
