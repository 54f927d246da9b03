import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { routes } from "../../../src/api/routes.ts";
import { eventually, openStage } from "../../agents/stage.ts";
import { type Answer, type ModelRequest, startModelServer, type ToolCall } from "../../model-server/server.ts";
import { defaultTimeout, expect, type Stage } from "../stage.ts";

/** A daemon whose agents are the real program, with a scripted model. */
async function below(
  { candidate, path, harness, isConfined }: Stage,
  respond: (request: ModelRequest) => Answer | Promise<Answer>,
) {
  const { isSide } = candidate;
  const server = await startModelServer({ respond, ...(isSide === undefined ? {} : { isSide }) });
  const names = Object.keys(candidate.env("/", server.url));
  const stage = await openStage({
    harness: harness.name,
    variables: names,
    ...(isConfined
      ? { workspaces: "clone", agents: "sandbox: on" }
      : { workspaces: "worktree", agents: "sandbox: off" }),
    config: `model: ${candidate.model}\n`,
    env(base) {
      candidate.seed?.(base, server.url);
      // Codex refuses a home inside the folder for temporary files.
      const temporary = join(base, "tmp");
      mkdirSync(temporary, { recursive: true });
      const folders = [dirname(path), dirname(process.execPath), process.env.PATH];
      return { PATH: folders.join(delimiter), TMPDIR: temporary, ...candidate.env(base, server.url) };
    },
  });
  const close = async () => {
    await stage.close();
    await server.close();
  };
  return { stage, server, close };
}

/**
 * Worker and reviewer are the real program; each follows its prompt with our real command line, and comments through our
 * real MCP server where the program has one.
 */
export async function wholeLife(trial: Stage): Promise<void> {
  const { candidate, isConfined } = trial;
  const shell = (command: string): Answer => ({ calls: [candidate.shell(command)] });
  const comment = (text: string): readonly Answer[] =>
    candidate.mcp === undefined ? [] : [{ calls: [candidate.mcp("comment", { text })] }];
  const { writeTaskFile = (file, content) => [candidate.shell(`printf '%s' '${content}' >> ${file}`)] } = candidate;
  const worker: Answer[] = [
    shell(
      "printf '\\n## Plan\\nAPPROACH: a file\\nTOUCHING: cup.txt\\n' >> TASK.md && signalbox task update --status working",
    ),
    shell("echo full > cup.txt && git add cup.txt && git commit -qm 'A cup'"),
    ...comment("The cup is full."),
    shell("printf '\\n## Handoff\\nDONE: the cup\\n' >> TASK.md && signalbox task update --status agent-review"),
    { say: "It is handed over." },
  ];
  let reviewer: Answer[] | undefined;
  const reviewIn = (folder: string): Answer[] => [
    shell("git diff main...HEAD --stat"),
    ...comment("The cup is well made."),
    ...writeTaskFile(join(folder, "TASK.md"), "\n## Review\nVerdict: PASS\n").map((call: ToolCall) => ({
      calls: [call],
    })),
    shell("signalbox task update --status reviewing"),
    { say: "It is good." },
  ];
  const log: string[] = [];
  const { stage, close } = await below(trial, async (request) => {
    const isReview = request.userTexts.some((text) => text.includes("# Review:"));
    if (isReview && reviewer === undefined) {
      const { folder } = await eventually(async () => (await stage.runs()).find(({ role }) => role === "reviewer"));
      reviewer ??= reviewIn(folder);
    }
    log.push(`${isReview ? "reviewer" : "worker"}: ${request.toolResults.at(-1)?.slice(0, 300) ?? ""}`);
    return (isReview ? reviewer : worker)?.shift() ?? { say: "There is nothing left to do." };
  });
  try {
    const id = await stage.create("A cup", { branch: "cup" });
    const { workspace } = await stage.until(id, (task) => task.workspace !== "", defaultTimeout);
    await stage.until(id, ({ status }) => status === "reviewing", defaultTimeout);
    const place = isConfined ? workspace : stage.repository;
    expect(stage.git(place, "show", "cup:cup.txt") === "full", () => "The work is not on the branch.");
    const history = JSON.stringify(await stage.events(id));
    const said = ["The cup is full.", "The cup is well made."].filter((text) => history.includes(text));
    expect(candidate.mcp === undefined || said.length === 2, () => `Only these comments came: ${JSON.stringify(said)}`);
    const runs = await stage.runs(true);
    expect(runs.length === 2 && runs.every(({ sandbox }) => sandbox === isConfined), () => JSON.stringify(runs));
    await stage.call(routes.mergeTask, { params: { task: id }, body: {} });
    await stage.until(id, ({ phase }) => phase === "over", defaultTimeout);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe prompts that the model received:\n${log.join("\n")}`);
  } finally {
    await close();
  }
}

/** Architect and engineers of a team are the real program: it plans two parts, builds, reviews and merges them. */
export async function teamLife(trial: Stage): Promise<void> {
  const { candidate } = trial;
  const answer = (value: unknown): Answer => candidate.json?.(value) ?? { say: JSON.stringify(value) };
  const subtask = (id: string, needs: readonly string[]) => ({
    ...{ id, title: `Part ${id}`, description: `Write ${id}.txt`, needs, files: [`${id}.txt`], size: "S" },
  });
  const build = (id: string, before = "true"): Answer => ({
    calls: [
      candidate.shell(`${before} && echo ${id} > ${id}.txt && git add ${id}.txt && git commit -qm 'Build ${id}'`),
    ],
  });
  const turns = /Split it into subtasks|Whole requirement:|Run the tests that concern|Review this change/;
  const log: string[] = [];
  const { stage, close } = await below(trial, (request) => {
    const prompt = request.userTexts.findLast((text) => turns.test(text));
    const isBegun = request.toolResults.length > 0;
    log.push(`${prompt?.slice(0, 60)}: ${request.toolResults.at(-1)?.slice(0, 300) ?? ""}`);
    if (prompt === undefined || (isBegun && !prompt.includes("Whole requirement:"))) return { say: "It is done." };
    if (prompt.includes("Split it into")) return answer({ subtasks: [subtask("cup", []), subtask("saucer", ["cup"])] });
    // The project has no test command.
    if (prompt.includes("Run the tests")) return answer({ passed: true });
    if (prompt.includes("Review this change")) return answer({ approved: true });
    if (isBegun) return { say: "It is built." };
    return prompt.includes("Subtask Part cup:") ? build("cup") : build("saucer", "test -e cup.txt");
  });
  try {
    const body = { project: "coffee", summary: "A cup and a saucer", workflow: "team", autostart: true };
    const settings = { skip_clarification: true, agents: 2 };
    const { id } = (await stage.call(routes.createTask, { body: { ...body, settings } })).task;
    const { status, held, branch } = await stage.until(
      id,
      ({ phase, held: reason }) => phase === "over" || reason !== null,
      2 * defaultTimeout,
    );
    expect(status === "COMPLETED", () => `The team ended in ${status}: ${JSON.stringify(held)}`);
    const { tasks } = await stage.call(routes.listTasks, { query: { parent: id } });
    const ends = tasks.map((task) => `${task.part?.item} ${task.part?.try} ${task.status}`).sort();
    expect(ends.join() === "cup 1 SUBTASK_DONE,saucer 1 SUBTASK_DONE", () => ends.join());
    const files = stage.git(stage.repository, "ls-tree", "--name-only", branch).split("\n").join();
    expect(files === "cup.txt,recipe.md,saucer.txt", () => `The branch has ${files}`);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe prompts that the model received:\n${log.join("\n")}`);
  } finally {
    await close();
  }
}

/**
 * A child in a session of its own; in a sandbox also one without the variables by which the daemon finds a run's processes.
 * Some programs end the group of a command with the command, so it waits until both have left the group.
 */
const leftBehind = (seconds: number, isConfined: boolean) =>
  ["setsid", ...(isConfined ? ["env -i setsid"] : [])]
    .map((how) => `${how} sleep ${seconds} >/dev/null 2>&1 </dev/null & `)
    .join("")
    .concat("sleep 2");

/** A person's cancel, and the death of the program itself, end everything that the program has started. */
export async function endsChildren(trial: Stage): Promise<void> {
  const { candidate, isConfined } = trial;
  let script: Answer[] = [];
  const { stage, close } = await below(trial, () => script.shift() ?? { say: "There is nothing left to do." });
  try {
    for (const end of ["cancel", "death"] as const) {
      const seconds = 900_000 + Math.floor(Math.random() * 90_000);
      const alive = () => processesCalled(`sleep ${seconds}`);
      script = [{ calls: [candidate.shell(leftBehind(seconds, isConfined))] }, { say: "They run." }];
      const id = await stage.create("Leave children", { branch: `children-${end}` });
      const expected = isConfined ? 2 : 1;
      const tell = async () => `${alive().length} of ${expected} children. ${JSON.stringify(await stage.runs(true))}`;
      await eventually(async () => alive().length === expected || undefined, defaultTimeout, tell);
      const run = (await stage.runs()).find(({ task }) => task === id);
      if (end === "death") process.kill(run?.pid ?? 0, "SIGKILL");
      else await stage.call(routes.cancelTask, { params: { task: id }, body: {} });
      await eventually(async () => alive().length === 0 || undefined, 60_000, tell);
      if (end === "death") await stage.call(routes.cancelTask, { params: { task: id }, body: {} });
      await eventually(async () => stage.processesOf(id, run?.key ?? "").length === 0 || undefined, 60_000, tell);
    }
  } finally {
    await close();
  }
}

/** The processes with these arguments. */
function processesCalled(line: string): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim() === line;
    } catch {
      return false;
    }
  });
}

const many = 50;

/** Messages from one line to 6 KB, some while the agent is busy: each is acknowledged, and reaches the model once. */
export async function deliverMany(trial: Stage): Promise<void> {
  const { stage, server, close } = await below(trial, (request) => {
    const last = request.userTexts.at(-1) ?? "";
    return { say: `I have read ${last.length} characters.`, ...(last.includes("(busy)") ? { delay: 1_500 } : {}) };
  });
  try {
    const id = await stage.create("Talk", { branch: "talk" });
    const [run] = await eventually(async () => {
      const all = await stage.runs();
      return all[0]?.activity === "idle" ? all : undefined;
    }, defaultTimeout);
    const texts = Array.from({ length: many }, (_, i) => messageText(i));
    for (const text of texts)
      await stage.call(routes.sendMessage, { params: { task: id }, body: { text, role: run?.role ?? "" } });
    const own = await eventually(
      async () => {
        const { messages } = await stage.call(routes.listMessages, { params: { task: id } });
        const sent = messages.filter(({ from }) => from === "human");
        return sent.every(({ state }) => state !== "waiting") ? sent : undefined;
      },
      many * 15_000,
      async () => JSON.stringify([await stage.runs(), (await stage.events(id)).slice(-5)]),
    );
    const bad = own.filter(({ state }) => state !== "delivered");
    expect(bad.length === 0, () => `Not acknowledged: ${JSON.stringify(bad.slice(0, 3))}`);
    const marks = texts.map((text) => text.slice(0, 12));
    // An acknowledged message is in the conversation; it reaches the model a moment later.
    await eventually(async () => marks.every((mark) => server.arrivals(mark) > 0) || undefined, defaultTimeout).catch(
      () => {},
    );
    const wrong = marks.filter((mark) => server.arrivals(mark) !== 1);
    expect(
      wrong.length === 0,
      () => `Not exactly once: ${wrong.map((mark) => `${mark} ${server.arrivals(mark)} times`).join(", ")}`,
    );
  } finally {
    await close();
  }
}

function messageText(i: number): string {
  const lines = [1, 3, 20, 60][i % 4] ?? 1;
  const rest = Array.from({ length: lines }, (_, line) =>
    `line ${line} about coffee; $(echo no) "quoted" and \`ticked\``.padEnd(100, "."),
  );
  return [`Message ${String(i).padStart(3, "0")}: ${i % 5 === 0 ? "(busy)" : ""}`, ...rest].join("\n");
}
