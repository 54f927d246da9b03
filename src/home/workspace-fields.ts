import { readDuration } from "../engine/duration.ts";
import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-fields.ts";

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Why a value of the configuration is not a time; undefined where it is one. `examples`: such as 90s or 5m. A new value needs
 * a unit; a bare number that a file already has is a number of seconds.
 */
export function durationProblem(key: string, value: string, examples: string, isNew: boolean): string | undefined {
  if (readDuration(value) === undefined) return `"${key}" must be a time such as ${examples}, but is "${value}".`;
  // Seconds, minutes: everybody takes a bare number for something else. Nothing is nothing in every unit.
  const isBare = isNew && /^[\d.]+$/.test(value) && Number(value) !== 0;
  return isBare
    ? `"${key}" has no unit: write ${value}m for minutes, ${value}s for seconds or ${value}h for hours.`
    : undefined;
}

/** Reads `20000-20999`, both ends included; undefined for anything else. */
export function readPorts(text: string): PortRange | undefined {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return from !== undefined && first >= lowest && first <= last && last <= highest ? { first, last } : undefined;
}

// Ports below are reserved for the system.
const lowest = 1024;
const highest = 65_535;

/** Reads `500MB`, `1.5 GB` or a plain number as bytes; undefined for anything else. */
export function readSize(text: string): number | undefined {
  const [, amount, unit = "B"] = /^(\d+(?:\.\d+)?) ?(B|KB|MB|GB|TB)?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * 1024 ** units.indexOf(unit.toUpperCase()));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

const units = ["B", "KB", "MB", "GB", "TB"];

/** How workspaces are made. Only the daemon reads these settings. */
export interface WorkspaceConfig {
  readonly keep: readonly string[];
  readonly copy: readonly string[];
  readonly link: readonly string[];
  /** Commands are lists of arguments; an empty list means no command. */
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  /** As `readDuration` reads it. */
  readonly setupTimeout: string;
  readonly testCommand: readonly string[];
  readonly testTimeout: string;
  readonly requireTests: boolean;
  /** Patterns for files that only a person may see changed. */
  readonly protect: readonly string[];
  /** As `readPorts` reads it; empty: no workspace gets a port. */
  readonly ports: string;
  /** As `readSize` reads it; empty: no limit. */
  readonly diskLimit: string;
  readonly trashDays: number;
  readonly trashLimit: string;
  /** As `readDuration` reads it; empty: for ever. */
  readonly keepEnded: string;
}

const text: Shape = { kind: "text" };
const list: Shape = { kind: "list", of: text };

const duration = (key: string) => (value: string, isNew: boolean) =>
  readDuration(value) === 0
    ? `"${key}" must be a time such as 90s, 10m or 2h, but is "${value}".`
    : durationProblem(key, value, "90s, 10m or 2h", isNew);

const size = (key: string) => (value: string) =>
  value === "" || readSize(value) !== undefined
    ? undefined
    : `"${key}" must be a size such as 500MB or 50GB, but is "${value}".`;

const patterns = (key: string) => (values: readonly string[]) => {
  const wrong = values.find((value) => value === "" || value.startsWith("/") || value.split("/").includes(".."));
  return wrong === undefined
    ? undefined
    : `"${key}" must name files inside the repository, relative to its root, but has "${wrong}".`;
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
    description: "Names of ignored folders that stay in a workspace for its next task",
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
    description: "Untracked files that are copied into every workspace, such as .env",
    problem: patterns("copy"),
  },
  link: {
    key: "link",
    level: "project",
    isDaemons: true,
    shape: list,
    default: [],
    description: "Untracked files that are linked into every workspace",
    problem: patterns("link"),
  },
  setup: {
    key: "setup",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that prepares a workspace for a task, as a list of arguments",
    problem: command("setup"),
  },
  teardown: {
    key: "teardown",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that is run before a workspace is released, as a list of arguments",
    problem: command("teardown"),
  },
  setupTimeout: {
    key: "setup_timeout",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "10m",
    description: "How long setup and teardown may each take",
    problem: duration("setup_timeout"),
  },
  testCommand: {
    key: "test_command",
    level: "project",
    isDaemons: true,
    isCommand: true,
    shape: list,
    default: [],
    description: "The command that runs the tests, as a list of arguments; empty to detect it from the project's files",
    problem: command("test_command"),
  },
  testTimeout: {
    key: "test_timeout",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "30m",
    description: "How long the tests may take, unless the workflow sets a limit",
    problem: duration("test_timeout"),
  },
  requireTests: {
    key: "require_tests",
    level: "project",
    isDaemons: true,
    shape: { kind: "boolean" },
    default: false,
    description: "Whether the tests count as failed where the project has none to run",
  },
  protect: {
    key: "protect",
    level: "project",
    isDaemons: true,
    shape: list,
    default: [],
    description:
      "Files whose changes a person must see before they are merged automatically, such as [test/**]; yours and the repository's both count",
    problem: patterns("protect"),
  },
  ports: {
    key: "ports",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "20000-20999",
    description: "The range of ports from which each workspace in use gets one of its own; empty for none",
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
    description: "How much disk space all workspaces and the trash may take together; empty for no limit",
    problem: size("disk_limit"),
  },
  trashDays: {
    key: "trash_days",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 1 },
    default: 30,
    description: "How many days files stay in the trash before they are deleted",
  },
  trashLimit: {
    key: "trash_limit",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "10GB",
    description: "How much disk space the trash may take before its oldest files are deleted; empty for no limit",
    problem: size("trash_limit"),
  },
  keepEnded: {
    key: "keep_ended",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "30d",
    description:
      "How long run folders, logs and refs of ended tasks are kept; empty for ever. Unmerged work is always kept",
    problem: (value, isNew) => (value === "" ? undefined : duration("keep_ended")(value, isNew)),
  },
};
