import { type BaseArgs, type BaseFlags, buildCommand, type Command, type CommandBuilderArguments } from "@stricli/core";
import { Fault } from "../../fault.ts";
import { isInWorkspace, isOfAgent } from "../../home/credential.ts";
import { homePlaces } from "../../home/places.ts";
import type { Context } from "../context.ts";

/**
 * Declares a command once: its parameters, its help, and what it does. The types of the flags and arguments that `func`
 * gets are inferred from `parameters`.
 */
export function command<const P extends Parameters>(definition: Definition<P>): Command<Context> {
  const { isForRuns = false, func, ...rest } = definition;
  const guarded = isForRuns
    ? func
    : function (this: Context, ...given: readonly [GivenFlags<P>, ...GivenArguments<P>]) {
        mustBePerson(this);
        return func.call(this, ...given);
      };
  // stricli checks parameters against the type of a function; here the type of the function comes from the parameters.
  return buildCommand({ ...rest, func: guarded } as unknown as CommandBuilderArguments<BaseFlags, BaseArgs, Context>);
}

/**
 * Refuses a command to runs before it asks the daemon or touches a file. By default a command is for people: many act
 * without the daemon, which could not refuse them.
 */
function mustBePerson({ home, process: { env = {} } }: Context): void {
  const places = homePlaces(home);
  if (isOfAgent(places, env)) {
    throw new Fault("caller.denied", "Only a person may run this command, and this process belongs to an agent.", {
      hint: "Agents can use: signalbox task update, show, explain, diff, history and comment. Ask the person for the rest.",
    });
  }
  if (!isInWorkspace(places, currentFolder())) return;
  throw new Fault("caller.denied", "This folder is in a workspace, where commands speak for the agent.", {
    hint: "Go to another folder, such as your own checkout of the repository, and run the command there.",
  });
}

/** The folder may be gone: then it is in no workspace any more. */
function currentFolder(): string {
  try {
    return globalThis.process.cwd();
  } catch {
    return "/";
  }
}

interface Definition<P extends Parameters> {
  readonly parameters: P;
  readonly docs: { readonly brief: string; readonly fullDescription?: string };
  /** Whether agents may run the command. Everything else is refused to them. */
  readonly isForRuns?: boolean;
  func(this: Context, flags: GivenFlags<P>, ...args: GivenArguments<P>): void | Promise<void>;
}

interface Parameters {
  readonly positional?: Tuple | List;
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly aliases?: Readonly<Record<string, string>>;
}

interface Tuple {
  readonly kind: "tuple";
  readonly parameters: readonly (Argument & { readonly optional?: boolean })[];
}

interface List {
  readonly kind: "array";
  readonly parameter: Argument;
  readonly minimum: number;
  /** At most one is taken. The command itself refuses others, with a hint of its own. */
  readonly isSingle?: boolean;
}

interface Argument {
  readonly parse: (input: string) => unknown;
  readonly placeholder: string;
  readonly brief: string;
  readonly proposeCompletions?: Offers;
}

type Offers = (this: Context) => readonly string[] | Promise<readonly string[]>;

type Flag = { readonly brief: string; readonly optional?: boolean } & (
  | { readonly kind: "boolean"; readonly default?: boolean; readonly withNegated: false }
  | {
      readonly kind: "enum";
      readonly values: readonly string[];
      readonly default?: string;
      readonly variadic?: boolean;
    }
  | {
      readonly kind: "parsed";
      readonly parse: (input: string) => unknown;
      readonly placeholder: string;
      readonly default?: string;
      readonly variadic?: boolean;
      readonly inferEmpty?: boolean;
      readonly proposeCompletions?: Offers;
    }
);

type GivenFlags<P extends Parameters> = P extends { readonly flags: infer F } ? FlagsOf<F> : object;

/** The flags that a command gets, inferred from their declarations. An optional flag that was not given is absent. */
export type FlagsOf<F> = {
  readonly [K in keyof F as F[K] extends Optional ? never : K]: ValueOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends Optional ? K : never]?: ValueOf<F[K]>;
};

interface Optional {
  readonly optional: true;
}

type ValueOf<F> = F extends { readonly variadic: true } ? readonly OneOf<F>[] : OneOf<F>;

type OneOf<F> = F extends { readonly kind: "boolean" }
  ? boolean
  : F extends { readonly kind: "enum"; readonly values: readonly (infer V)[] }
    ? V
    : F extends { readonly parse: (input: string) => infer T }
      ? T
      : never;

type GivenArguments<P extends Parameters> = P["positional"] extends {
  readonly kind: "tuple";
  readonly parameters: infer T;
}
  ? TupleOf<T>
  : P["positional"] extends { readonly kind: "array"; readonly parameter: infer T }
    ? readonly OneOf<T>[]
    : readonly [];

type TupleOf<T> = T extends readonly [infer First, ...infer Rest]
  ? First extends Optional
    ? readonly [OneOf<First>?, ...TupleOf<Rest>]
    : readonly [OneOf<First>, ...TupleOf<Rest>]
  : readonly [];
