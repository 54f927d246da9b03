/** What a model is called: the tier, or the model where no tier was named; and what the harness is asked for. */
export interface AgentModel {
  readonly harness: string;
  /** Empty where a model was named. */
  readonly tier: string;
  /** Empty for the harness's own choice; undefined where the tier has no model in that harness. */
  readonly model: string | undefined;
}

/** A named agent of a project, and what it does. */
export interface NamedAgent extends AgentModel {
  readonly name: string;
  /** Empty where it is free. Otherwise what it does, such as `does coffee#12 (judge#3)`. */
  readonly work: string;
  /** Empty where it is not stuck. Otherwise why, and how it is cleared, as sentences. */
  readonly stuck: string;
}

interface AgentLimits {
  /** How many agents of each tier or model a harness may have before no more are made, by name. */
  readonly perModel: Readonly<Record<string, number>>;
  /** The limit of those that have none of their own. */
  readonly most: number;
}

/** Other tiers or models whose agents may do the work of one, the best first, with what the harness is asked for. */
type Fallbacks = readonly AgentModel[];

export type AgentChoice =
  | { readonly kind: "use"; readonly agent: string }
  | { readonly kind: "provision" }
  /** The agent has another model than the wanted one. */
  | { readonly kind: "fall-back"; readonly agent: string }
  /** `reason` is one or more sentences. `isLasting`: no agent could do it, now or later, so the limit must be raised. */
  | { readonly kind: "wait"; readonly reason: string; readonly isLasting?: true };

/**
 * Chooses who does a run: a free agent with exactly the wanted model; or a new one, while there may be more; or a free
 * agent of a model that may take its place; or nobody yet. Agents are given in the order in which they were made, and the
 * oldest is preferred. An agent that a person or a failed run has made unavailable counts against the limit.
 */
export function chooseAgent(
  agents: readonly NamedAgent[],
  wanted: AgentModel,
  limits: AgentLimits,
  fallbacks: Fallbacks,
): AgentChoice {
  const exact = agents.filter((agent) => isSame(agent, wanted));
  const free = exact.find(isFree);
  if (free !== undefined) return { kind: "use", agent: free.name };
  const most = limitOf(limits, wanted);
  if (exact.length < most) return { kind: "provision" };
  for (const other of fallbacks) {
    const instead = agents.find((agent) => isFree(agent) && isSame(agent, other));
    if (instead !== undefined) return { kind: "fall-back", agent: instead.name };
  }
  const isLasting = exact.length === 0 && !fallbacks.some((other) => agents.some((agent) => isSame(agent, other)));
  return { kind: "wait", reason: whyWait(exact, wanted, most), ...(isLasting ? { isLasting } : {}) };
}

/** The tier, or else the model; how people and the configuration call it. */
export function modelName({ tier, model }: Pick<AgentModel, "tier" | "model">): string {
  return tier || model || "";
}

/** Two tiers are never the same, even if a harness has one model for both; a model is the same as a tier that means it. */
function isSame(one: AgentModel, other: AgentModel): boolean {
  if (one.harness !== other.harness) return false;
  if (one.tier !== "" && other.tier !== "") return one.tier === other.tier;
  return one.model !== undefined && one.model === other.model;
}

function isFree({ work, stuck, model }: NamedAgent): boolean {
  return work === "" && stuck === "" && model !== undefined;
}

function limitOf({ perModel, most }: AgentLimits, wanted: AgentModel): number {
  const name = modelName(wanted);
  return Object.hasOwn(perModel, name) ? (perModel[name] ?? most) : most;
}

const maxNamed = 5;

function whyWait(exact: readonly NamedAgent[], wanted: AgentModel, most: number): string {
  const what = modelName(wanted) === "" ? wanted.harness : `${modelName(wanted)} in ${wanted.harness}`;
  const limit = `The maximum is ${most} (agents.per_model).`;
  if (exact.length === 0) return `There is no named agent for ${what}, and none is made. ${limit}`;
  const said = exact.slice(0, maxNamed).map(({ name, work, stuck }) => `${name} ${stuck === "" ? work : "is stuck"}`);
  const more = exact.length > maxNamed ? [`${exact.length - maxNamed} more are taken`] : [];
  const stuck = exact.flatMap(({ name, stuck: why }) => (why === "" ? [] : [`${name} is stuck: ${why}`]));
  const taken = exact.length === 1 ? "The named agent" : `All ${exact.length} named agents`;
  const verb = exact.length === 1 ? "is" : "are";
  const about = `${taken} for ${what} ${verb} taken: ${[...said, ...more].join(", ")}.`;
  return [about, limit, ...stuck.slice(0, maxNamed)].join(" ");
}
