import type { Mode, Scalar, SettingValue } from "../workflow.ts";

/** A workflow file as its author wrote it, after `schema.ts` has checked its form. */
export interface Source {
  readonly name?: string;
  readonly version: number;
  readonly description?: string;
  readonly initial?: Words;
  readonly unclear?: string;
  readonly agents?: "anonymous" | "named";
  readonly settings?: Readonly<Record<string, SettingSource>>;
  readonly presets?: Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
  readonly roles?: Readonly<Record<string, RunSource>>;
  readonly limits?: LimitsSource;
  readonly states: Readonly<Record<string, StateSource>>;
  readonly transitions?: readonly TransitionSource[];
  readonly exit_monitoring?: {
    readonly poll_interval?: number;
    readonly rules?: readonly (RuleSource & { readonly status: string })[];
  };
  readonly promises?: readonly PromiseSource[];
  readonly prompts?: Readonly<Record<string, string>>;
  readonly schemas?: Readonly<Record<string, unknown>>;
}

export interface PromiseSource {
  readonly to?: string;
  readonly after?: {
    readonly merged?: boolean;
    readonly tests?: "passed";
    readonly gate?: string;
    readonly verdict?: "PASS" | "FAIL";
    readonly result?: Readonly<Record<string, Scalar>>;
    readonly by?: Words;
  };
  readonly never_by?: Words;
  readonly role?: string;
  readonly never_same_run_as?: string;
  readonly within?: number;
  readonly of?: string;
}

export type Words = string | readonly string[];

interface SettingSource {
  readonly default: SettingValue;
  readonly one_of?: readonly Scalar[];
  readonly min?: number;
  readonly max?: number;
  readonly description?: string;
}

export interface RunSource {
  readonly role?: string;
  readonly mode?: Mode;
  readonly harness?: string;
  readonly prompt?: string;
  readonly model?: string;
  readonly permissions?: "full" | "reduced";
  readonly sandbox?: "auto" | "on" | "off";
  readonly network?: "on" | "off" | "proxy";
  readonly tools?: readonly string[];
  readonly result?: string;
  readonly window?: string;
  readonly keep?: boolean;
  readonly step_prompt?: string;
  readonly marker?: string;
  readonly until?: Readonly<Record<string, Scalar>>;
  readonly confirm?: boolean;
  readonly limits?: LimitsSource;
}

export interface LimitsSource {
  readonly attempts?: number;
  readonly steps?: number | string;
  readonly rounds?: number | string;
  readonly stall?: number | string;
  readonly time?: number | string;
  readonly cost?: number;
  readonly backoff?: { readonly first: number | string; readonly factor?: number; readonly max?: number | string };
}

export interface StateSource {
  readonly terminal?: boolean;
  readonly outcome?: "done" | "failed" | "cancelled";
  readonly agent?: RunSource;
  readonly panel?: {
    readonly members: RunSource;
    readonly prompts?: readonly string[];
    readonly judge: RunSource;
    readonly tools?: readonly string[];
  };
  readonly fan_out?: {
    readonly from: string;
    readonly workflow: string;
    readonly parallel?: number | string;
    readonly waves?: boolean | string;
    readonly policy?: string;
  };
  readonly waits_for?: string;
  readonly ask?: string;
  readonly unless?: Words;
  readonly evidence?: Words;
  readonly do?: readonly ActionSource[];
  readonly outcomes?: readonly RuleSource[];
  readonly next?: string;
  readonly limits?: LimitsSource;
  readonly respawn_prompt?: string;
}

export type ActionSource = string | (Readonly<Record<string, unknown>> & { readonly action: string });

export interface GateSource {
  readonly section: string;
  readonly required?: boolean;
  readonly fields?: readonly string[];
  readonly verdict?: "PASS" | "FAIL";
  readonly first_line?: boolean;
}

export interface RuleSource {
  readonly on?: Words;
  readonly result?: Readonly<Record<string, Scalar>>;
  readonly when?: Words;
  readonly has_artifact?: GateSource;
  readonly no_artifact?: boolean;
  readonly reason?: string;
  readonly then?: string;
  readonly then_when?: readonly { readonly when: Words; readonly then: string }[];
  readonly action?: "crash" | "mark_dead";
  readonly [after: `${string}_after`]: number;
}

export interface TransitionSource {
  readonly from: Words;
  readonly to: Words;
  readonly by?: Words;
  readonly when?: Words;
  readonly gate?: GateSource | readonly GateSource[];
  readonly hooks?: readonly ActionSource[];
}

export function asList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}
