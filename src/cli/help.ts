import type { Command, RouteMap, StricliIntegration } from "@stricli/core";
import type { Context } from "./context.ts";
import { wrap } from "./wrap.ts";

type Target = Command<Context> | RouteMap<Context>;

/** `--help` for every command: what it does first, then how it is called. */
export function createHelp({ paint, columns }: Context): StricliIntegration<Context> {
  return {
    flag: {
      brief: "Show this help",
      aliases: ["h"],
      global: true,
      complete: true,
      defaultForRouteMap: true,
      run(_app, { result }) {
        this.process.stdout.write(`${writeHelp(result.target, result.prefix.join(" "), columns, paint.bold)}\n`);
      },
    },
  };
}

/** Beside names, what has fewer columns than this is harder to read than below them. */
const leastRoom = 24;

function writeHelp(target: Target, prefix: string, columns: number, bold: (text: string) => string): string {
  const isCommand = "parameters" in target;
  const flags: readonly Row[] = [
    ...(isCommand ? flagRows(target) : prefix.includes(" ") ? [] : [["-v, --version", "Show the version"] as const]),
    ["-h, --help", "Show this help"],
  ];
  const sections: readonly (readonly [string, readonly Row[]])[] = isCommand
    ? [
        ["Arguments", argumentRows(target)],
        ["Flags", flags],
      ]
    : [
        ["Commands", commandRows(target)],
        ["Flags", flags],
      ];
  const shown = sections.filter(([, rows]) => rows.length > 0);
  const width = Math.max(...shown.flatMap(([, rows]) => rows.map(([name]) => name.length)));
  const room = columns - width - 4;
  const write = ([name, brief]: Row) =>
    room < leastRoom
      ? `  ${name}\n      ${wrap(brief, columns - 6, " ".repeat(6))}`
      : `  ${name.padEnd(width)}  ${wrap(brief, room, " ".repeat(width + 4))}`;
  return [
    wrap(target.brief, columns),
    "",
    `${bold("Usage:")} ${wrap(usage(target, prefix), columns - 9, "         ").replaceAll(unbroken, " ")}`,
    ...shown.flatMap(([title, rows]) => ["", bold(`${title}:`), ...rows.map(write)]),
    ...(target.fullDescription === undefined ? [] : ["", wrapLines(target.fullDescription, columns)]),
  ].join("\n");
}

/** Wraps each line by itself, so that examples and lists keep their form. */
function wrapLines(text: string, columns: number): string {
  const wrapLine = (line: string) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    const hang = /^(Exit codes|--|with --| )/.test(line) ? "  " : "";
    return indent + wrap(line.slice(indent.length), columns - indent.length - hang.length, indent + hang);
  };
  return text.split("\n").map(wrapLine).join("\n");
}

type Row = readonly [name: string, brief: string];

/** Stands between a flag and its value, which belong together. */
const unbroken = "\u00a0";

function usage(target: Target, prefix: string): string {
  if (!("parameters" in target)) return `${prefix} COMMAND`;
  const flags = flagRows(target).map(([name]) => `[${name.replace(/^-\w, /, "").replaceAll(" ", unbroken)}]`);
  return [prefix, ...argumentNames(target), ...flags].join(" ");
}

function commandRows(target: RouteMap<Context>): readonly Row[] {
  return target
    .getAllEntries()
    .flatMap(({ name, target: each, hidden }) => (hidden ? [] : [[name.original, each.brief]]));
}

function argumentNames({ parameters: { positional } }: Command<Context>): readonly string[] {
  if (positional === undefined) return [];
  if (positional.kind === "array") return [`${positional.parameter.placeholder}...`];
  return positional.parameters.map(({ placeholder = "", optional }) => (optional ? `[${placeholder}]` : placeholder));
}

function argumentRows({ parameters: { positional } }: Command<Context>): readonly Row[] {
  if (positional === undefined) return [];
  const all = positional.kind === "array" ? [positional.parameter] : positional.parameters;
  return all.map(({ placeholder = "", brief }) => [placeholder, brief]);
}

function flagRows({ parameters: { flags = {}, aliases = {} } }: Command<Context>): readonly Row[] {
  const shortOf = (name: string) =>
    Object.keys(aliases).find((short) => (aliases as Record<string, string>)[short] === name);
  return Object.entries(flags).flatMap(([name, flag]) => {
    if ("hidden" in flag && flag.hidden) return [];
    const value =
      flag.kind === "enum" ? ` ${flag.values.join("|")}` : flag.kind === "parsed" ? ` ${flag.placeholder}` : "";
    const isSet = "default" in flag && flag.default !== undefined && flag.kind !== "boolean";
    const short = shortOf(name);
    return [
      [
        `${short === undefined ? "" : `-${short}, `}--${name}${value}`,
        isSet ? `${flag.brief} (${String(flag.default)})` : flag.brief,
      ],
    ];
  });
}
