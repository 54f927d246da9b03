import type { Script, ScriptTurn, When } from "./script.ts";

/** What conditions are compared with. */
export interface Circumstances {
  readonly role: string;
  readonly mode: "session" | "turn";
  readonly permissions: "full" | "reduced";
  readonly prompt: string;
  readonly turn: number;
  readonly run: number;
  /** The task file's frontmatter. */
  readonly task: Readonly<Record<string, string>>;
  counter(name: string): number;
}

export interface Chosen {
  /** Names the turn among those of its role, so that it can be counted. */
  readonly key: string;
  readonly turn: ScriptTurn;
}

/** The first turn that fits and was not played too often. `played` says how often each was. */
export function chooseTurn(
  { roles }: Script,
  circumstances: Circumstances,
  played: Readonly<Record<string, number>>,
): Chosen | undefined {
  const names = circumstances.role === "any" ? ["any"] : [circumstances.role, "any"];
  const all = names.flatMap((role) =>
    (Object.hasOwn(roles, role) ? (roles[role] ?? []) : []).map((turn, index) => ({ key: `${role}/${index}`, turn })),
  );
  return all.find(({ key, turn }) => (played[key] ?? 0) < turn.times && holds(turn.when, circumstances));
}

export function holds(when: When, at: Circumstances): boolean {
  const isOneOf = (wanted: readonly string[] | undefined, value: string) => wanted?.includes(value) ?? true;
  return (
    isOneOf(when.status, at.task.status ?? "") &&
    isOneOf(when.role, at.role) &&
    isOneOf(when.mode, at.mode) &&
    isOneOf(when.permissions, at.permissions) &&
    (when.prompt?.some((part) => at.prompt.includes(part)) ?? true) &&
    (when.turn === undefined || when.turn === at.turn) &&
    (when.run === undefined || when.run === at.run) &&
    Object.entries(when.counter ?? {}).every(([name, value]) => at.counter(name) === value) &&
    Object.entries(when.task ?? {}).every(([name, value]) => at.task[name] === value)
  );
}
