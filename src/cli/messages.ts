import {
  type ApplicationText,
  ArgumentScannerError,
  formatMessageForArgumentScannerError,
  text_en,
} from "@stricli/core";
import type { Context } from "./context.ts";
import { listed } from "./count.ts";
import { writeError, writeFailure } from "./write-failure.ts";

/** Everything that can go wrong, in our own words: what, why, and what to do. `prefix` is the command that was found. */
export function createMessages(context: Context, prefix: () => string): ApplicationText {
  const write = (message: string, hint = "") => writeError(context, message, hint);
  const failure = (error: unknown) => writeFailure(context, error);
  return {
    ...text_en,
    noCommandRegisteredForInput: ({ input, corrections }) => {
      const close = corrections.map((each) => `"${each.replaceAll("`", "")}"`);
      const hint = close.length > 0 ? `Did you mean ${listed(close, "or")}?` : "To see all commands: signalbox --help";
      return write(`There is no command "${input}".`, hint);
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
      const close = corrections.map((each) => `--${each.replace(/^-+/, "")}`);
      return `There is no flag --${input.replace(/^-+/, "")} here.${close.length > 0 ? ` Did you mean ${listed(close, "or")}?` : ""}`;
    },
    AliasNotFoundError: ({ input }) => `There is no flag -${input} here.`,
    ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, exception }) =>
      `${/^[A-Z]/.test(name) ? name : `--${name}`}: ${exception instanceof Error ? exception.message : String(exception)}`,
    EnumValidationError: ({ externalFlagName, input, values }) =>
      `--${externalFlagName} cannot be "${input}". It can be ${listed(values, "or")}.`,
    UnsatisfiedFlagError: ({ externalFlagName }) => `--${externalFlagName} needs a value.`,
    UnexpectedFlagError: ({ externalFlagName }) => `--${externalFlagName} is given twice.`,
    UnexpectedPositionalError: ({ input }) => `"${input}" is one argument too many.`,
    UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is missing.`,
    InvalidNegatedFlagSyntaxError: ({ externalFlagName }) => `--${externalFlagName} takes no value.`,
  });
}
