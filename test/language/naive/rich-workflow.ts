import { createRandom } from "../../../src/engine/simulate/live.ts";

/**
 * A random workflow of two to four states that uses much of the language at once: counters and settings above 3, switches,
 * sessions and panels with `do`, answers with numbers and texts, fan-outs, limits, hooks, several actors. The same seed gives
 * the same text.
 */
export function richWorkflow(seed: number): string {
  const random = createRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(random.next() * (most - least + 1));
  const chance = (probability: number) => random.next() < probability;
  const one = <T>(...among: readonly [T, ...T[]] | readonly T[]): T => among[between(0, among.length - 1)] as T;
  const maybe = (probability: number, text: () => string): readonly string[] => (chance(probability) ? [text()] : []);

  const names = Array.from({ length: between(2, 4) }, (_, i) => `s${i}`);
  const ways: string[] = [];
  const guard = () =>
    one(
      () => `visits < ${between(1, 3)}`,
      () => `visits >= ${between(2, 3)}`,
      () => `n < ${one(1, 2, 5)}`,
      () => `n >= ${one(1, 2, 5)}`,
      () => '"visits < {rounds}"',
      () => '"n >= {rounds}"',
      () => `rounds > ${one(0, 2, 4)}`,
      () => `fast == ${one("true", "false")}`,
      () => `quiet == ${one("true", "false")}`,
      () => `crash_count ${one("<", ">=")} ${one(1, 2)}`,
      () => `dirty == ${one("true", "false")}`,
      () => `commits ${one("> 0", "== 0", "> 4")}`,
      () => `workspace == ${one("true", "false")}`,
      () => `merged == ${one("true", "false")}`,
      () => `protected == ${one("true", "false")}`,
      () => `children_failed ${one("== 0", "> 0")}`,
      () => "children_done > 0",
    )();
  const gate = () =>
    one(
      '{ section: "## A" }',
      '{ section: "## B", verdict: PASS, first_line: true }',
      '{ section: "## B", verdict: FAIL, first_line: true }',
      '{ section: "## C", fields: [DONE] }',
    );
  const workText = () =>
    one(
      "acquire_workspace",
      "release_workspace",
      "run_tests",
      "merge",
      "harvest_uncommitted",
      "kill_session",
      "notify",
      "harvest_uncommitted, run_tests",
    );
  const hook = () =>
    one(
      "{ action: increment, field: n }",
      "{ action: increment, field: n }",
      `{ action: set_field, field: n, value: ${one(0, 0, 4)} }`,
      "acquire_workspace",
      "release_workspace",
      "kill_session",
      "{ action: spawn_agent, role: worker, prompt: p }",
      "{ action: kill_agent, role: worker }",
      "{ action: notify_agent, role: worker, prompt: p }",
      "push_branch",
    );
  const list = (...parts: readonly (readonly string[])[]) => parts.flat().join(", ");

  const states = names.map((name, at) => {
    const target = () => (chance(0.72) ? one(...names.slice(at + 1), "done", "done") : one(...names, "done", "broken"));
    const condition = (probability: number) =>
      maybe(probability, () => `when: ${chance(0.8) ? guard() : `[${guard()}, ${guard()}]`}`);
    const rule = (...parts: readonly string[]) => `{ ${list(parts, condition(0.35), [`then: ${target()}`])} }`;
    const failed = () =>
      one(
        () => rule("on: failed"),
        () => `{ on: failed, action: crash, ${one(...names)}_after: ${between(1, 2)} }`,
        () => "{ on: failed, action: mark_dead }",
      )();
    const artifact = () =>
      one(
        () => `{ has_artifact: ${gate()}, then: ${target()} }`,
        () => `{ has_artifact: ${gate()}, on: ok, then: ${target()} }`,
      )();
    const limits = () =>
      list([
        "limits: { ".concat(
          list(
            maybe(0.5, () => `attempts: ${between(1, 2)}`),
            maybe(0.5, () => "time: 1h"),
            [`cost: ${between(1, 3)}`],
          ),
          " }",
        ),
      ]);
    /** The rules, the work and `next` of a state; `always`: the wait itself can fail. */
    const extra = (rules: readonly string[], always = true, leads = true) => {
      const work = maybe(0.35, () => `do: [${workText()}]`);
      const next = leads ? [`next: ${target()}`] : [];
      const all = [...maybe(0.12, artifact), ...rules, ...(always || work.length > 0 ? maybe(0.6, failed) : [])];
      return [...(all.length > 0 ? [`outcomes: [${all.join(", ")}]`] : []), ...next, ...work];
    };
    const unless = () => maybe(0.12, () => `unless: ${guard()}`);
    const kinds: readonly (() => readonly string[])[] = [
      () => extra([], false),
      () => ["waits_for: human", ...maybe(0.4, () => "agent: { role: worker }"), ...unless(), ...extra([], false)],
      () => [`waits_for: ${one("slot", "60s")}`, ...unless(), ...extra([], false)],
      () => ["agent: { role: coder }", ...maybe(0.5, limits), ...unless(), ...extra([])],
      () => [
        "agent: { role: critic }",
        ...maybe(0.4, limits),
        ...extra([rule("result: { good: true }"), ...maybe(0.8, () => rule("result: { good: false }"))], true, false),
      ],
      () => [
        "agent: { role: critic }",
        ...maybe(0.4, limits),
        ...extra(
          [rule(`result: { score: ${one(0, 3, 7)} }`), ...maybe(0.5, () => rule("result: { kind: good }"))],
          true,
          false,
        ),
      ],
      () => [
        "agent: { role: builder }",
        ...maybe(0.3, limits),
        ...extra([rule(`on: ${one("[ok, steps]", "steps", "ok")}`)], true, false),
      ],
      () => {
        const to = target();
        ways.push(
          `{ from: ${name}, to: ${to}, ${list(
            maybe(0.7, () => "by: worker"),
            [`gate: ${gate()}`],
            maybe(0.3, () => `hooks: [${hook()}]`),
          )} }`,
        );
        return [
          "agent: { role: worker }",
          ...maybe(0.4, limits),
          ...extra([]).map((part) => (part.startsWith("next:") ? `next: ${to}` : part)),
        ];
      },
      () => [
        "panel: { members: { role: scout }, judge: { role: critic } }",
        ...maybe(0.3, limits),
        ...extra([rule("result: { good: true }"), ...maybe(0.5, () => rule("result: { good: false }"))], true, false),
      ],
      () => [
        "agent: { role: talker }",
        `limits: { rounds: ${one("1", "2", '"{rounds}"')} }`,
        ...extra([rule("on: rounds")]),
      ],
      () => ["agent: { role: planner }", ...extra([])],
      () => [
        "fan_out: { from: plan.subtasks, workflow: child, policy: ".concat(one("retry", "continue", "stop"), " }"),
        ...maybe(0.3, limits),
        ...extra([]),
      ],
      () => {
        ways.push(`{ from: ${name}, to: ${target()}, by: ${one("human", "[worker, human]")} }`);
        return maybe(0.5, () => "respawn_prompt: p");
      },
    ];
    return `  ${name}: { ${one(...kinds)().join(", ")} }`;
  });
  const free = Array.from(
    { length: between(0, 3) },
    () =>
      `{ ${list(
        [`from: ${chance(0.1) ? "any" : one(...names)}`, `to: ${one(...names, "done", "broken")}`],
        maybe(
          0.8,
          () => `by: ${one("worker", "coder", "human", "human", "engine", "[worker, human]", "[engine, human]")}`,
        ),
        maybe(0.4, () => `when: ${guard()}`),
        maybe(0.25, () => `gate: ${gate()}`),
        maybe(0.6, () => `hooks: [${hook()}${chance(0.3) ? `, ${hook()}` : ""}]`),
      )} }`,
  );
  const cancel = maybe(0.6, () => "{ from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }");
  return [
    "name: rich",
    "version: 1",
    `initial: ${chance(0.15) ? `[s0, ${one(...names)}]` : "s0"}`,
    `settings: { fast: { default: ${one("true", "false")} }, quiet: { default: false }, rounds: { default: ${one(1, 2, 4, 5)}, min: ${one(0, 1)} }, models: { default: [a${chance(0.4) ? ", b" : ""}] } }`,
    "roles:",
    `  worker: { mode: session, prompt: p, keep: ${chance(0.4)}${chance(0.2) ? ", tools: [work_complete]" : ""} }`,
    `  coder: { mode: turn, prompt: p, keep: ${chance(0.2)}, limits: { attempts: ${between(1, 2)} } }`,
    `  builder: { mode: steps, prompt: p, limits: { steps: ${one("1", "3", '"{rounds}"')}, attempts: ${between(1, 2)} } }`,
    "  critic: { mode: turn, prompt: p, result: verdict }",
    '  scout: { mode: turn, prompt: p, result: verdict, model: "{models}" }',
    "  talker: { mode: dialogue, prompt: p, result: verdict, until: { good: true } }",
    "  planner: { mode: turn, prompt: p, result: plan }",
    "states:",
    ...states,
    `  done: { terminal: true${chance(0.6) ? ", do: [kill_session, release_workspace]" : ""} }`,
    "  broken: { terminal: true, outcome: failed }",
    "  dropped: { terminal: true, outcome: cancelled }",
    "transitions:",
    // Moves n, so that conditions on it load.
    "  - { from: s0, to: broken, by: scout, hooks: [{ action: increment, field: n }] }",
    ...[...ways, ...free, ...cancel].map((way) => `  - ${way}`),
    "schemas:",
    `  verdict: { type: object, required: [good], properties: { good: { type: boolean }, score: { type: integer }, kind: { type: string } } }`,
    `  plan: { type: object, required: [subtasks], properties: { subtasks: { type: array${chance(0.5) ? ", minItems: 1" : ""}, items: { type: object } } } }`,
    "prompts: { p: x }",
    "",
  ].join("\n");
}
