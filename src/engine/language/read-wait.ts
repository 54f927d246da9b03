import type { FanOut, RunSpec, Value, Wait } from "../workflow.ts";
import { type Context, type Path, suggest } from "./problem.ts";
import { checkMode, checkPrompt, checkRunSource, readCount, readRun, seconds } from "./read-run.ts";
import type { RunSource, StateSource } from "./source.ts";

/** Reads the one thing a state waits for. */
export function readWait(context: Context, source: StateSource, path: Path): Wait {
  const kinds = (["agent", "panel", "fan_out", "waits_for"] as const).filter((key) => source[key] !== undefined);
  const isAtHand = source.agent !== undefined && source.waits_for === "human";
  const [, second] = kinds;
  if (second !== undefined && !(isAtHand && kinds.length === 2)) {
    context.error(
      [...path, second],
      `A state waits for one thing, but this one has ${kinds.join(" and ")}.`,
      "Make two states of it.",
      { key: true },
    );
  }
  if (source.waits_for === "slot") return { kind: "slot" };
  if (source.waits_for !== undefined && source.waits_for !== "human")
    return { kind: "time", seconds: seconds(source.waits_for) };
  if (source.panel !== undefined) return readPanel(context, source.panel, [...path, "panel"]);
  if (source.fan_out !== undefined) return readFanOut(context, source.fan_out, [...path, "fan_out"]);
  const run = source.agent && readAgent(context, source, source.agent, path);
  if (source.waits_for === "human") return { kind: "human", run };
  if (run !== undefined) return { kind: "agent", run };
  const passes = source.do !== undefined || source.next !== undefined || source.outcomes !== undefined;
  return passes ? { kind: "none" } : { kind: "open" };
}

function readAgent(context: Context, source: StateSource, agent: RunSource, path: Path): RunSpec {
  const at = [...path, "agent"];
  const run = readRun(context, agent, at);
  checkRunSource(context, agent, run.mode, at);
  if (run.prompt === undefined && source.respawn_prompt === undefined) {
    context.error(
      at,
      `The run of "${run.role}" has no prompt to start with.`,
      "Add prompt: … here or in the role, or respawn_prompt: … to the state.",
      { key: true },
    );
  }
  checkMode(context, run, at);
  return run;
}

function readPanel(context: Context, source: NonNullable<StateSource["panel"]>, path: Path): Wait {
  const shared = source.tools === undefined ? {} : { tools: source.tools };
  const read = (key: "members" | "judge"): RunSpec => {
    const at = [...path, key];
    const run = readRun(context, { ...shared, ...source[key] }, at);
    checkRunSource(context, source[key], run.mode, at);
    if (run.mode !== "turn")
      context.error(at, `The runs of a panel are turns, but this one is in mode ${run.mode}.`, "Set mode: turn.", {
        key: true,
      });
    if (run.prompt === undefined && (key === "judge" || source.prompts === undefined))
      context.error(at, `The run of "${run.role}" has no prompt.`, "Add prompt: …", { key: true });
    if (run.result === undefined)
      context.error(at, "The runs of a panel need a schema for their answers.", "Add result: …", { key: true });
    return run;
  };
  const prompts = source.prompts === undefined ? {} : { prompts: readPrompts(context, source, [...path, "prompts"]) };
  return { kind: "panel", member: { ...read("members"), ...prompts }, judge: read("judge") };
}

/** What tells the members of a panel apart. */
function readPrompts(context: Context, source: NonNullable<StateSource["panel"]>, path: Path): readonly string[] {
  const { prompts = [], members } = source;
  for (const [i, prompt] of prompts.entries()) {
    checkPrompt(context, prompt, [...path, i]);
    if (prompts.indexOf(prompt) < i)
      context.error([...path, i], `Two members have the prompt "${prompt}".`, "Name each prompt once.");
  }
  if (prompts.length === 0)
    context.error(path, "A panel without prompts has no members.", "Name a prompt, or remove the key.");
  if (prompts.length > maxPrompts)
    context.error(
      path,
      `A panel has at most ${maxPrompts} prompts, but this one has ${prompts.length}.`,
      "Merge some of them.",
    );
  if (members.prompt !== undefined)
    context.error(
      [...path.slice(0, -1), "members", "prompt"],
      "The members have prompts of their own, so none of them would get this one.",
      "Remove it, or remove prompts.",
      { key: true },
    );
  return prompts;
}

const maxPrompts = 16;

function readFanOut(context: Context, source: NonNullable<StateSource["fan_out"]>, path: Path): FanOut {
  const [result = "", field = ""] = source.from.split(".");
  if (!context.schemas.includes(result)) {
    context.error(
      [...path, "from"],
      `There is no schema "${result}", so no result of that name.`,
      suggest(result, context.schemas),
    );
  } else {
    const schema = context.source.schemas?.[result] as { properties?: Record<string, { type?: unknown }> } | undefined;
    if (schema?.properties?.[field]?.type !== "array") {
      context.error(
        [...path, "from"],
        `"${field}" is not a list in the schema "${result}".`,
        "Name a property of type array.",
      );
    }
  }
  if (context.workflows !== undefined && !context.workflows.includes(source.workflow)) {
    const text = `There is no workflow "${source.workflow}" for the children.`;
    context.error([...path, "workflow"], text, suggest(source.workflow, context.workflows));
  }
  return {
    kind: "fan_out",
    from: { result, field },
    workflow: source.workflow,
    parallel: source.parallel === undefined ? 1 : readCount(context, source.parallel, [...path, "parallel"]),
    waves: settingOr(context, source.waves ?? false, "boolean", [...path, "waves"]),
    policy: readPolicy(context, source.policy ?? "retry", [...path, "policy"]),
  };
}

const policies = ["retry", "continue", "stop"];

/** The schema has checked a literal; a setting must only allow policies. */
function readPolicy(context: Context, source: string, path: Path): Value<string> {
  const policy = settingOr<string>(context, source, "string", path);
  if (typeof policy === "string") return policy;
  const values = context.source.settings?.[policy.setting]?.one_of ?? [];
  if (values.length === 0 || !values.every((value) => policies.includes(String(value)))) {
    context.error(
      path,
      `The setting "${policy.setting}" allows values that are not policies.`,
      `Give it one_of: [${policies.join(", ")}].`,
    );
  }
  return policy;
}

function settingOr<T extends string | boolean>(
  context: Context,
  value: T | string,
  type: "string" | "boolean",
  path: Path,
): Value<T> {
  if (typeof value !== "string" || !value.startsWith("{")) return value as T;
  const setting = value.slice(1, -1);
  if (typeof context.settings[setting] !== type) {
    context.error(
      path,
      `There is no setting "${setting}" of the right type.`,
      suggest(setting, Object.keys(context.settings)),
    );
  }
  return { setting };
}

export function checkRespawnPrompt(context: Context, source: StateSource, path: Path): void {
  if (source.respawn_prompt === undefined) return;
  const at = [...path, "respawn_prompt"];
  checkPrompt(context, source.respawn_prompt, at);
  const waits = (["panel", "fan_out", "waits_for"] as const).filter((key) => source[key] !== undefined);
  const passes = source.do !== undefined || source.next !== undefined || source.outcomes !== undefined;
  if (source.agent === undefined && (waits.length > 0 || passes)) {
    context.error(at, "This state has no agent that could be started again.", "Remove the key, or add agent: …", {
      key: true,
    });
  }
}
