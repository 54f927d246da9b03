import {
  type ApplicationText,
  ArgumentScannerError,
  formatMessageForArgumentScannerError,
  text_en,
} from "@stricli/core";
import { nearest } from "../engine/language/nearest.ts";
import type { Context } from "./context.ts";
import { listed } from "./count.ts";
import { suggestCommand } from "./suggest-command.ts";
import { writeError, writeFailure } from "./write-failure.ts";

/**
 * Everything that can go wrong, in our own words: what, why, and what to do. `prefix` is the command that was found,
 * `commands` are all that there are.
 */
export function createMessages(
  context: Context,
  prefix: () => string,
  commands: () => readonly string[],
): ApplicationText {
  const write = (message: string, hint = "") => writeError(context, message, hint);
  const failure = (error: unknown) => writeFailure(context, error);
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
      return write(argumentMessage(error), `To see how it is used: ${prefix()} --help`);
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
    UnexpectedPositionalError: ({ input }) =>
      `"${input}" is one argument too many. What has spaces in it needs quotes.`,
    UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is missing.`,
    InvalidNegatedFlagSyntaxError: ({ externalFlagName }) => `--${externalFlagName} takes no value.`,
  });
}
