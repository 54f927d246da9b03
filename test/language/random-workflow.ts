import { createRandom, type Random } from "../../src/engine/simulate/live.ts";

/**
 * A small random workflow: well formed, mostly leading forward, with occasional bugs. The same seed gives the same
 * text.
 */
export function randomWorkflow(seed: number): string {
  const lot = createLot(createRandom(seed));
  const names = Array.from({ length: lot.between(2, 5) }, (_, i) => `s${i}`);
  const drawn = names.map((name, i) => drawState(lot, name, createTargets(lot, names, i)));
  const free = Array.from({ length: lot.between(0, 3) }, () => drawTransition(lot, names));
  const cancel = "{ from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }";
  return [
    "name: random",
    "version: 1",
    `initial: ${lot.chance(0.15) ? lot.one(names) : "s0"}`,
    "settings: { fast: { default: false }, most: { default: 2, min: 1 }, models: { default: [a, b] } }",
    "roles:",
    `  worker: { mode: session, prompt: p, keep: ${lot.chance(0.5)} }`,
    `  builder: { mode: steps, prompt: p, keep: ${lot.chance(0.5)}, limits: { steps: ${lot.between(1, 4)}, attempts: ${lot.between(1, 3)} } }`,
    "  critic: { mode: turn, prompt: p, result: verdict }",
    '  scout: { mode: turn, prompt: p, result: verdict, model: "{models}" }',
    "states:",
    ...drawn.map(({ state }) => state),
    `  done: { terminal: true${lot.chance(0.7) ? ", do: [kill_session, release_workspace]" : ""} }`,
    "  dropped: { terminal: true, outcome: cancelled }",
    "transitions:",
    // Moves n, so that conditions on it load.
    "  - { from: s0, to: done, by: scout, hooks: [{ action: increment, field: n }] }",
    ...[...drawn.flatMap(({ ways }) => ways), ...free, ...(lot.chance(0.85) ? [cancel] : [])].map(
      (way) => `  - ${way}`,
    ),
    "schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean } } } }",
    "prompts: { p: x }",
    "",
  ].join("\n");
}

interface Lot {
  chance(probability: number): boolean;
  between(least: number, most: number): number;
  one<T>(among: readonly T[]): T;
  /** The value, or nothing, at random. */
  maybe(probability: number, ...what: readonly string[]): readonly string[];
}

function createLot(random: Random): Lot {
  const between = (least: number, most: number) => least + Math.floor(random.next() * (most - least + 1));
  const chance = (probability: number) => random.next() < probability;
  return {
    chance,
    between,
    one: (among) => among[between(0, among.length - 1)] as (typeof among)[number],
    maybe: (probability, ...what) => (chance(probability) ? what : []),
  };
}

interface Targets {
  /** Nearly always a later state. */
  on(): string;
  /** What a rule does: mostly it leads forward, or back with a bound; sometimes back without one. */
  rule(on: string, more?: string): string;
}

function createTargets(lot: Lot, names: readonly string[], at: number): Targets {
  const later = [...names.slice(at + 1), "done"];
  const on = () => (lot.chance(0.95) ? lot.one(later) : lot.one(names));
  return {
    on,
    rule: (word, more = "") => {
      const isBack = lot.chance(0.4);
      const bound = isBack ? lot.maybe(0.9, `when: ${boundText(lot)}`) : lot.maybe(0.3, `when: ${guardText(lot)}`);
      const parts = [
        `on: ${word}`,
        ...(more === "" ? [] : [more]),
        ...bound,
        `then: ${isBack ? lot.one(names) : on()}`,
      ];
      return `{ ${parts.join(", ")} }`;
    },
  };
}

interface Drawn {
  readonly state: string;
  readonly ways: readonly string[];
}

const kinds = [
  "none",
  "work",
  "work",
  "human",
  "slot",
  "time",
  "turn",
  "verdict",
  "verdict",
  "steps",
  "session",
  "session",
  "panel",
  "dialogue",
  "open",
] as const;

function drawState(lot: Lot, name: string, { on, rule }: Targets): Drawn {
  const ways: string[] = [];
  const next = lot.maybe(0.9, `next: ${on()}`);
  const failed = lot.maybe(0.6, lot.chance(0.75) ? rule("failed") : "{ on: failed, action: crash, s0_after: 2 }");
  const limits = lot.maybe(0.3, `limits: { attempts: ${lot.between(1, 3)} }`);
  const unless = lot.maybe(0.15, `unless: ${lot.one(["fast == true", "dirty == true", "visits > 1"])}`);
  const work = lot.maybe(0.3, `do: [${workText(lot)}]`);
  const outcomes = (...rules: readonly string[]) => (rules.length > 0 ? [`outcomes: [${rules.join(", ")}]`] : []);
  const afterWork = work.length > 0 ? outcomes(...failed) : [];
  const early = lot.maybe(0.4, `{ when: ${guardText(lot)}, then: ${on()} }`);

  const partsOf = (): readonly string[] => {
    const kind = lot.one(kinds);
    switch (kind) {
      case "none":
        return [...outcomes(...early), `next: ${on()}`];
      case "work":
        return [`do: [${workText(lot)}]`, ...limits, ...outcomes(...early, ...failed), ...next];
      case "human":
        return [
          "waits_for: human",
          ...lot.maybe(0.4, `agent: { role: ${lot.one(["worker", "builder"])} }`),
          ...unless,
          ...work,
          ...afterWork,
          ...next,
        ];
      case "slot":
      case "time":
        return [`waits_for: ${kind === "slot" ? "slot" : "60s"}`, ...unless, ...work, ...afterWork, ...next];
      case "turn":
        return ["agent: { role: critic }", ...limits, ...unless, ...work, ...outcomes(...failed), ...next];
      case "verdict":
        return [
          "agent: { role: critic }",
          ...limits,
          ...outcomes(
            rule("ok", "result: { good: true }"),
            ...lot.maybe(0.8, rule("ok", "result: { good: false }")),
            ...failed,
          ),
        ];
      case "steps":
        return lot.chance(0.5)
          ? ["agent: { role: builder }", ...limits, ...outcomes(rule("[ok, steps]"), ...failed)]
          : ["agent: { role: builder }", ...limits, ...unless, ...work, ...outcomes(...failed), ...next];
      case "session": {
        const to = on();
        ways.push(
          `{ from: ${name}, to: ${to}, ${[...lot.maybe(0.8, "by: worker"), `gate: ${gateText(lot)}`, ...lot.maybe(0.3, "hooks: [{ action: increment, field: n }]")].join(", ")} }`,
        );
        const otherwise = lot.one([
          "{ action: crash, s0_after: 2 }",
          "{ action: mark_dead }",
          "{ action: crash }",
          rule("failed"),
        ]);
        return ["agent: { role: worker }", ...limits, ...outcomes(`{ then: ${to} }`, otherwise)];
      }
      case "panel":
        return [
          "panel: { members: { role: scout }, judge: { role: critic } }",
          ...limits,
          ...outcomes(...failed),
          ...next,
        ];
      case "dialogue":
        return [
          `agent: { role: critic, mode: dialogue, until: { good: true }, confirm: ${lot.chance(0.5)} }`,
          `limits: { rounds: ${lot.one(["1", "2", '"{most}"'])} }`,
          ...outcomes(`{ on: rounds, then: ${on()} }`, `{ on: failed, then: ${on()} }`),
          `next: ${on()}`,
        ];
      case "open":
        ways.push(`{ from: ${name}, to: ${on()}, by: ${lot.one(["human", "[worker, human]"])} }`);
        return lot.maybe(0.5, "respawn_prompt: p");
    }
  };
  return { state: `  ${name}: { ${partsOf().join(", ")} }`, ways };
}

function boundText(lot: Lot): string {
  return lot.one(["visits < 2", "visits < 3", "visits < 3", '"visits < {most}"', "[visits < 3, dirty == true]"]);
}

function guardText(lot: Lot): string {
  return lot.one([
    "visits < 2",
    "n < 2",
    "n >= 2",
    "commits == 0",
    "dirty == true",
    "workspace == false",
    "merged == true",
    "fast == true",
    "crash_count < 2",
    "[n < 2, dirty == false]",
  ]);
}

function workText(lot: Lot): string {
  return lot.one([
    "acquire_workspace",
    "release_workspace",
    "run_tests",
    "merge",
    "harvest_uncommitted",
    "merge_pr",
    "harvest_uncommitted, run_tests",
    "kill_session",
  ]);
}

function gateText(lot: Lot): string {
  return lot.one([
    '{ section: "## A" }',
    '{ section: "## A", fields: [DONE] }',
    '{ section: "## B", verdict: PASS }',
    '{ section: "## B", verdict: FAIL, first_line: true }',
    '[{ section: "## A" }, { section: "## B" }]',
  ]);
}

const hooks = [
  "{ action: increment, field: n }",
  "{ action: increment, field: n }",
  "{ action: set_field, field: n, value: 0 }",
  "acquire_workspace",
  "release_workspace",
  "kill_session",
  "{ action: kill_agent, role: worker }",
  "{ action: spawn_agent, role: worker, prompt: p }",
  "{ action: notify_agent, role: builder, message: go on, steps: 2 }",
  "{ action: notify_agent, role: worker, prompt: p }",
];

function drawTransition(lot: Lot, names: readonly string[]): string {
  const pair = [...new Set([lot.one(names), lot.one(names)])];
  const from = lot.chance(0.1) ? "any" : lot.chance(0.2) ? `[${pair.join(", ")}]` : lot.one(names);
  const by = lot.maybe(
    0.8,
    `by: ${lot.one(["worker", "builder", "critic", "human", "human", "engine", "[worker, human]", "[engine, human]"])}`,
  );
  const when = lot.maybe(0.4, `when: ${guardText(lot)}`);
  const gate = lot.maybe(0.3, `gate: ${gateText(lot)}`);
  const owed = Array.from({ length: lot.between(0, 2) }, () => lot.one(hooks));
  const parts = [
    `from: ${from}`,
    `to: ${lot.one([...names, "done"])}`,
    ...by,
    ...when,
    ...gate,
    ...(owed.length > 0 ? [`hooks: [${owed.join(", ")}]`] : []),
  ];
  return `{ ${parts.join(", ")} }`;
}
