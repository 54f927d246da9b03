import {
  type ApplicationText,
  ArgumentScannerError,
  type Command,
  formatMessageForArgumentScannerError,
  type RouteMap,
  type StricliIntegration,
  text_en,
} from "@stricli/core";
import { nearest } from "../engine/language/problem.ts";
import { type Context, fittedTalk } from "./context.ts";
import { visible, writeError, writeFailure } from "./fast/tell.ts";
import { listed, wrap } from "./text.ts";

type Target = Command<Context> | RouteMap<Context>;

/** `--help` for every command: its description first, then its usage. */
export function createHelp({ paint, columns }: Context): StricliIntegration<Context> {
  return {
    flag: {
      brief: "Show this help",
      aliases: ["h"],
      global: true,
      complete: true,
      defaultForRouteMap: true,
      run(_app, { result }) {
        this.process.stdout.write(
          visible(`${writeHelp(result.target, result.prefix.join(" "), columns, paint.bold)}\n`),
        );
      },
    },
  };
}

/** With fewer columns than this beside the names, descriptions go below them. */
const minRoom = 24;

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
    room < minRoom
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

/** Wraps each line separately, so that examples and lists keep their form. */
function wrapLines(text: string, columns: number): string {
  const wrapLine = (line: string) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    const hang = /^(Exit codes|--|with --| )/.test(line) ? "  " : "";
    return indent + wrap(line.slice(indent.length), columns - indent.length - hang.length, indent + hang);
  };
  return text.split("\n").map(wrapLine).join("\n");
}

type Row = readonly [name: string, brief: string];

/** A non-breaking space between a flag and its value. */
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
  if (positional.kind === "array") {
    const { placeholder } = positional.parameter;
    return ["isSingle" in positional ? `[${placeholder}]` : `${placeholder}...`];
  }
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

/**
 * The messages of the command-line parser: what, why, and what to do. `prefix` is the command that was found,
 * `commands` are all commands.
 */
export function createMessages(
  context: Context,
  prefix: () => string,
  commands: () => readonly string[],
): ApplicationText {
  const inWidth = (text: string) => visible(fittedTalk(context.process.stderr, text));
  const write = (message: string, hint = "") => inWidth(writeError(context, message, hint));
  const failure = (error: unknown) => inWidth(writeFailure(context, error));
  return {
    ...text_en,
    noCommandRegisteredForInput: ({ input, corrections }) => {
      const near = corrections.map((each) => each.replaceAll("`", ""));
      const [first = ""] = process.argv.slice(2);
      const noun = first === input ? "" : first;
      return write(`There is no command "${input}".`, suggestCommand(input, noun, near, commands()));
    },
    exceptionWhileParsingArguments: (error) => {
      if (!(error instanceof ArgumentScannerError)) return failure(error);
      return write(argumentMessage(error), `To see its usage: ${prefix()} --help`);
    },
    exceptionWhileLoadingCommandFunction: failure,
    exceptionWhileLoadingCommandContext: failure,
    exceptionWhileRunningCommand: failure,
    commandErrorResult: failure,
    exceptionWhileRunningIntegrationHook: ({ exception }) => failure(exception),
    exceptionWhileRunningIntegrationFlag: ({ exception }) => failure(exception),
  };
}

function argumentMessage(error: ArgumentScannerError): string {
  return formatMessageForArgumentScannerError(error, {
    FlagNotFoundError: ({ input, corrections }) => {
      const [name, ...names] = [input, ...corrections].map((each) => each.replace(/^-+/, ""));
      const close = nearest(name ?? "", names);
      return `There is no flag --${name} here.${close === undefined ? "" : ` Did you mean --${close}?`}`;
    },
    AliasNotFoundError: ({ input }) => `There is no flag -${input} here.`,
    ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, exception }) =>
      `${/^[A-Z]/.test(name) ? name : `--${name}`}: ${exception instanceof Error ? exception.message : String(exception)}`,
    EnumValidationError: ({ externalFlagName, input, values }) =>
      `--${externalFlagName} cannot be "${input}". It can be ${listed(values, "or")}.`,
    UnsatisfiedFlagError: ({ externalFlagName }) => `--${externalFlagName} needs a value.`,
    UnexpectedFlagError: ({ externalFlagName }) => `--${externalFlagName} is given twice.`,
    UnexpectedPositionalError: ({ input }) => `"${input}" is one argument too many. A text with spaces needs quotes.`,
    UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is missing.`,
    InvalidNegatedFlagSyntaxError: ({ externalFlagName }) => `--${externalFlagName} takes no value.`,
  });
}

/** Names from other programs, and our commands for them. */
const habits: ReadonlyMap<string, string> = new Map([
  ["version", "signalbox --version"],
  ["ls", "signalbox task list"],
  ["new", "signalbox task create"],
  ["start", "signalbox up"],
  ["stop", "signalbox down"],
  ["restart", "signalbox down && signalbox up"],
  ["workspace clean", "signalbox workspace gc"],
  ["workspace cleanup", "signalbox workspace gc"],
  ["workspace prune", "signalbox workspace gc"],
  ["config list", "signalbox config get"],
  ["config ls", "signalbox config get"],
  ["config show", "signalbox config get"],
  ["task stop", "signalbox task cancel"],
]);

/** Verbs that end or remove something. They are suggested only after their own noun. */
const destructive: ReadonlySet<string> = new Set("cancel clean cleanup delete drop gc kill remove stop".split(" "));

/**
 * A hint for an unknown command. `noun` is what was typed before it, empty if it came first. `near` are
 * the similarly spelled names in its place, `all` every command as it is typed, such as "task merge".
 */
export function suggestCommand(input: string, noun: string, near: readonly string[], all: readonly string[]): string {
  const habit = habits.get(`${noun} ${input}`.trim());
  const others = elsewhere(input, noun, all).map((each) => `signalbox ${each}`);
  const known = habit === undefined ? others : noun === "" ? [habit, ...others] : [habit];
  const close = nearest(input, near) ?? near.find((each) => input.length > 2 && each.startsWith(input));
  const isOwn = noun !== "" && habit === undefined && close !== undefined;
  const meant = close !== undefined && (isOwn || known.length === 0) ? [close] : known;
  if (meant.length === 0) return `To see all commands: ${`signalbox ${noun}`.trimEnd()} --help`;
  const offers = meant.slice(0, 4).map((each) => `"${each}"`);
  return `Did you mean ${listed(offers, "or")}?`;
}

/** The same verb of other nouns. Without a noun, tasks come first. */
function elsewhere(verb: string, noun: string, all: readonly string[]): readonly string[] {
  const isMeant = (command: string) => command.startsWith("task ");
  return all
    .filter((each) => each.endsWith(` ${verb}`))
    .filter((each) => !destructive.has(verb) || (noun === "" && isMeant(each)))
    .sort((a, b) => Number(isMeant(b)) - Number(isMeant(a)));
}
