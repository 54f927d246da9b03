// A person's decision about a task with 200 findings against one with 10, in one run: a request to a real daemon, which looks at
// the workspace, decides, saves, and answers with all findings. Both tasks have gone through the pipeline to the person's gate.
import { routes } from "../src/api/routes.ts";
import buildPrograms from "../test/build-programs.ts";

export interface FindingsRow {
  readonly name: string;
  /** Median milliseconds with few and with many findings, and how many times longer the second takes. */
  readonly few: number;
  readonly many: number;
  readonly ratio: number;
  readonly limit: number;
}

const [few, many, limit] = [10, 200, 3];
/** Tasks of each kind. A finding is decided once, so that a task with few allows few decisions. */
const tasks = 3;

/** Measures a decision about one finding, alternately with few and with many findings, and the step that follows. */
export async function measureFindings(): Promise<readonly FindingsRow[]> {
  const remove = buildPrograms();
  // Imported after the build: these modules look for the built programs when they are loaded.
  const { openScenes } = await import("../test/scenarios/scenes.ts");
  const { but, finds } = await import("../test/scenarios/pipeline-agents.ts");
  const { during } = await import("../test/scenarios/steps.ts");
  const scenes = await openScenes("pipeline", { config: "notify: { desktop: false }\n" });
  const { call } = scenes;
  const begin = async (count: number, index: number) => {
    const reported = Array.from({ length: count }, (_, at) => ({
      ...{ title: `The cup number ${at} is cold`, severity: "high", file: `src/cup${at % 20}.ts`, line: at + 1 },
      evidence: "20 degrees, measured twice",
    }));
    const { implementer = [] } = but({});
    const part = but({ judge: [finds(...reported)], implementer: [...implementer, during("FIXER", "hang")] });
    const life = await scenes.begin(`b${count}x${index}`, part, { flags: ["--preset", "quick-fix"] });
    await life.does("spawn");
    await life.reaches("PR_HUMAN_REVIEW");
    return life.id;
  };
  const timed = async (run: () => Promise<unknown>) => {
    const start = performance.now();
    await run();
    return performance.now() - start;
  };
  try {
    const pairs = await Promise.all(
      Array.from({ length: tasks }, async (_, index) => ({
        [few]: await begin(few, index),
        [many]: await begin(many, index),
      })),
    );
    const times = {
      one: { [few]: [] as number[], [many]: [] as number[] },
      next: { [few]: [] as number[], [many]: [] as number[] },
    };
    for (let finding = 1; finding <= few; finding++)
      for (const pair of pairs)
        for (const count of [few, many]) {
          const body = { findings: [`F${finding}`], state: "approved" } as const;
          const taken = await timed(() => call(routes.decideFindings, { params: { task: pair[count] ?? "" }, body }));
          times.one[count]?.push(taken);
        }
    for (const pair of pairs)
      for (const count of [few, many]) {
        const order = { params: { task: pair[count] ?? "" }, body: { unanswered: true } };
        times.next[count]?.push(await timed(() => call(routes.continueTask, order)));
      }
    const row = (name: string, of: Readonly<Record<number, readonly number[]>>): FindingsRow => {
      const [one, other] = [median(of[few] ?? []), median(of[many] ?? [])];
      return { name, few: one, many: other, ratio: other / one, limit };
    };
    return [row("a person decides about one", times.one), row("the person goes on", times.next)];
  } finally {
    await scenes.close();
    remove?.();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const rows = await measureFindings();
  const print = (...cells: readonly string[]) =>
    process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(14))).join("")}\n`);
  print("decision", `${few} findings`, `${many} findings`, "ratio", "limit");
  for (const row of rows)
    print(
      ...[row.name, `${row.few.toFixed(1)} ms`, `${row.many.toFixed(1)} ms`, `${row.ratio.toFixed(2)} ×`],
      `≤ ${row.limit} × ${row.ratio > row.limit ? "MISSED" : "ok"}`,
    );
  process.exit(rows.some(({ ratio }) => ratio > limit) ? 1 : 0);
}
