import { type BaseArgs, type BaseFlags, buildCommand, type Command, type CommandBuilderArguments } from "@stricli/core";
import type { Context } from "../context.ts";

/**
 * Declares a command once: its parameters, its help, and what it does. The types of the flags and arguments that `func`
 * gets are inferred from `parameters`.
 */
export function command<const P extends Parameters>(definition: Definition<P>): Command<Context> {
  // stricli checks parameters against the type of a function; here the type of the function comes from the parameters.
  return buildCommand(definition as unknown as CommandBuilderArguments<BaseFlags, BaseArgs, Context>);
}

interface Definition<P extends Parameters> {
  readonly parameters: P;
  readonly docs: { readonly brief: string; readonly fullDescription?: string };
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
