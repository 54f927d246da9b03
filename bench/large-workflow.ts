/**
 * A workflow of twelve states in four stages. Each stage is reviewed, two of them by a panel, and sent back up to five times, which
 * a counter of its own counts. A person may begin again after the third stage, so that three of the counters count together.
 */
export function largeWorkflow(): string {
  const stages = [1, 2, 3, 4];
  const review = (stage: number) =>
    stage % 2 === 1 ? "panel: { members: { role: scout }, judge: { role: critic } }" : "agent: { role: critic }";
  const states = stages.flatMap((stage) => [
    `  work${stage}: { agent: { role: coder }, next: review${stage} }`,
    `  review${stage}: { ${review(stage)}, outcomes: [{ result: { good: true }, then: look${stage} },`,
    `    { result: { good: false }, when: n${stage} < 5, then: work${stage} }, { result: { good: false }, then: look${stage} }] }`,
    `  look${stage}: { waits_for: human, next: ${stage === 4 ? "done" : `work${stage + 1}`} }`,
  ]);
  const back = stages.map(
    (stage) =>
      `  - { from: review${stage}, to: work${stage}, by: engine, hooks: [{ action: increment, field: n${stage} }] }`,
  );
  return [
    "version: 1",
    "initial: work1",
    "settings: { models: { default: [a, b] } }",
    "roles:",
    "  coder: { mode: turn, prompt: p, limits: { attempts: 2 } }",
    "  critic: { mode: turn, prompt: p, result: verdict }",
    '  scout: { mode: turn, prompt: p, result: verdict, model: "{models}" }',
    "schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean } } } }",
    "prompts: { p: x }",
    "states:",
    ...states,
    "  done: { terminal: true }",
    "  dropped: { terminal: true, outcome: cancelled }",
    "transitions:",
    ...back,
    "  - { from: look3, to: work1, by: human }",
    "  - { from: any, to: dropped, by: human, hooks: [kill_session] }",
    "",
  ].join("\n");
}
