import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolClasses } from "../../../src/engine/tools.ts";
import { cliCall, expect, type Stage } from "../stage.ts";
import { describeTurn, makeTurn } from "../turn.ts";

export async function turn(stage: Stage): Promise<void> {
  stage.server.add({ say: "The coffee is ready.", usage: { input: 210, output: 34, cached: 1000 } });
  const made = await makeTurn(stage, { prompt: "Make coffee, prompt-1.", system: "You are careful, system-1." });
  expect(made.error === undefined && made.text.includes("The coffee is ready."), () => describeTurn(made));
  expect(stage.server.arrivals("prompt-1") === 1, () => "the prompt did not arrive once");
  const asked = stage.server.requests.find(({ isSide }) => !isSide);
  expect(JSON.stringify(asked?.body).includes("system-1"), () => "the instructions did not arrive");
  const tokens = made.all.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
  const sum = (pick: (usage: (typeof tokens)[number]) => number) =>
    tokens.reduce((total, each) => total + pick(each), 0);
  const used = [sum((u) => u.inputTokens), sum((u) => u.outputTokens), sum((u) => u.cachedTokens)];
  if (stage.harness.can.tokens) expect(String(used) === "210,34,1000", () => `tokens are reported as ${used}`);
  if (stage.harness.can.cost) expect(sum((u) => u.cost ?? 0) > 0, () => "no cost is reported");
  expect(made.session !== "", () => "the session's id is not reported");
}

export async function edit(stage: Stage): Promise<void> {
  const { candidate, server, tracked } = stage;
  server.add(
    { calls: [candidate.shell("echo milk >> coffee.txt")] },
    { calls: [candidate.write(join(stage.folder, "sugar.txt"), "two spoons\n")] },
    { say: "Both are in." },
  );
  const made = await makeTurn(stage, { prompt: "Add milk and sugar." });
  expect(made.error === undefined && made.text.includes("Both are in."), () => describeTurn(made));
  expect(readFileSync(tracked, "utf8") === "beans\nmilk\n", () => `the command did not run: ${describeTurn(made)}`);
  expect(
    readFileSync(join(stage.folder, "sugar.txt"), "utf8").trim() === "two spoons",
    () => "the file was not written",
  );
  const tools = made.all.filter(({ kind }) => kind === "tool").length;
  expect(tools === 4, () => `${tools} beginnings and ends of tools were reported, not 4`);
}

export async function resume(stage: Stage): Promise<void> {
  stage.server.add({ say: "One." }, { say: "Two." });
  const first = await makeTurn(stage, { prompt: "Count, prompt-1." });
  const second = await makeTurn(stage, { prompt: "Go on, prompt-2.", session: { kind: "resume", id: first.session } });
  expect(second.text.includes("Two.") && second.error === undefined, () => describeTurn(second));
  const last = stage.server.requests.findLast(({ isSide }) => !isSide);
  const told = last?.userTexts.join("\n") ?? "";
  expect(told.includes("prompt-1") && told.includes("prompt-2"), () => `the conversation was not resumed: ${told}`);
  const [before, after] = [first, second].map(({ all }) => outputTokens(all));
  if (stage.harness.can.tokens)
    expect(before === 10 && after === 10, () => `tokens are reported as ${before}, then ${after}`);
  if (stage.harness.can.cost) {
    const [cost, again] = [first, second].map(({ all }) => costOf(all));
    expect(Math.abs((cost ?? 0) - (again ?? 0)) < 1e-9, () => `the same costs ${cost}, then ${again}`);
  }
  const unknown = await makeTurn(stage, { session: { kind: "resume", id: "00000000-0000-4000-8000-000000000000" } });
  expect(unknown.error?.kind === "session-unknown", () => `an unknown session: ${describeTurn(unknown)}`);
}

export async function json(stage: Stage): Promise<void> {
  const answer = { verdict: "PASS", findings: ["none"] };
  stage.server.add(stage.candidate.json?.(answer) ?? { say: JSON.stringify(answer) }, { say: JSON.stringify(answer) });
  const schema = {
    type: "object",
    properties: {
      verdict: { type: "string", enum: ["PASS", "FAIL"] },
      findings: { type: "array", items: { type: "string" } },
    },
    required: ["verdict", "findings"],
    additionalProperties: false,
  };
  const made = await makeTurn(stage, { prompt: "Judge it.", schema: stage.harness.can.schema ? schema : undefined });
  const got = made.answer ?? JSON.parse(made.text || "null");
  expect(JSON.stringify(got) === JSON.stringify(answer), () => describeTurn(made));
}

/** Our own commands, with what a shell would run besides. */
const injections = [
  "signalbox task update --status reviewing && touch made.txt",
  "signalbox task diff .; touch made.txt",
  "signalbox task update --status $(touch made.txt)",
  "signalbox task show . > made.txt",
];

export async function reduced(stage: Stage): Promise<void> {
  const { candidate, server, tracked, folder } = stage;
  const before = stage.git("rev-parse", "HEAD");
  server.add(
    { calls: [candidate.write(tracked, "poison\n")] },
    { calls: [candidate.shell("echo poison > coffee.txt")] },
    { calls: [candidate.shell("git log --output=made.txt")] },
    { calls: [candidate.shell("git push origin main")] },
    { calls: [candidate.shell("git commit --allow-empty -m poison")] },
    { calls: [candidate.write(join(folder, "made.txt"), "poison\n")] },
    ...injections.map((line) => ({ calls: [candidate.shell(line)] })),
    { say: "I could not." },
  );
  const made = await makeTurn(stage, { prompt: "Break it.", permissions: "reduced" });
  expect(made.text.includes("I could not."), () => describeTurn(made));
  expect(readFileSync(tracked, "utf8") === "beans\n", () => "a tracked file was written");
  expect(
    stage.git("status", "--porcelain") === "",
    () => `there is something new: ${stage.git("status", "--porcelain")}`,
  );
  expect(stage.git("rev-parse", "HEAD") === before, () => "something was committed");
  expect(stage.git("ls-remote", "origin") === "", () => "something was pushed");
}

export async function reducedMay(stage: Stage): Promise<void> {
  const { candidate, server, taskFile } = stage;
  server.add(
    { calls: [candidate.shell("git log --oneline")] },
    { calls: [candidate.shell("./test.sh")] },
    { calls: [candidate.shell("signalbox task update --status reviewing")] },
    { calls: [candidate.shell(`cat ${taskFile}`)] },
    { calls: [candidate.write(taskFile, "# Task\n\n## Review\n")] },
    { say: "Reviewed." },
  );
  const made = await makeTurn(stage, { prompt: "Review it.", permissions: "reduced" });
  expect(made.text.includes("Reviewed."), () => describeTurn(made));
  const results = server.requests.findLast(({ isSide }) => !isSide)?.toolResults ?? [];
  const told = () => JSON.stringify(results.map((result) => result.slice(0, 300)));
  expect(results[0]?.includes("Start") ?? false, () => `git does not read: ${told()}`);
  expect(results[1]?.includes("all tests pass") ?? false, () => `the tests do not run: ${told()}`);
  expect(stage.cliCalls().includes(cliCall), () => `our command line was not called: ${told()}`);
  expect(readFileSync(taskFile, "utf8").includes("## Review"), () => `the task file was not written: ${told()}`);
}

/** Withholds the classes of tools that the harness can withhold, whatever the model asks for. */
export async function withoutTools(stage: Stage): Promise<void> {
  const { candidate, server, folder } = stage;
  const { withholds } = stage.harness.can;
  const tools = toolClasses.filter((each) => each === "read" || !withholds.includes(each));
  server.add(
    { calls: [candidate.write(join(folder, "made.txt"), "poison\n")] },
    // A run that may execute commands can write with them.
    ...(withholds.includes("execute") ? [{ calls: [candidate.shell("echo poison > coffee.txt")] }] : []),
    { say: "I could not." },
  );
  const made = await makeTurn(stage, { prompt: "Change it.", tools });
  expect(made.text.includes("I could not."), () => describeTurn(made));
  const changed = stage.git("status", "--porcelain");
  expect(changed === "", () => `something was changed: ${changed}`);
}

/** With full permissions and with reduced ones. */
export async function mcp(stage: Stage): Promise<void> {
  const { candidate, server, eventsFile } = stage;
  const call = candidate.mcp?.("comment");
  if (call === undefined) return;
  // Beside the events: a folder that a program in a sandbox may write to.
  const calls = join(dirname(eventsFile), "mcp-calls");
  const argv = [process.execPath, join(import.meta.dirname, "..", "mcp-server.mjs")];
  for (const permissions of ["full", "reduced"] as const) {
    server.add({ calls: [call] }, { say: "I have commented." });
    const made = await makeTurn(stage, { permissions, mcp: { argv, env: { CALLS_FILE: calls } } });
    expect(made.text.includes("I have commented."), () => describeTurn(made));
  }
  const noted = existsSync(calls) ? readFileSync(calls, "utf8") : "";
  expect(noted === "comment\ncomment\n", () => `the server was called so: ${JSON.stringify(noted)}`);
}

export async function rateLimit(stage: Stage): Promise<void> {
  stage.server.otherwise({ error: { kind: "rate-limit", retryAfter: 2 } });
  const made = await makeTurn(stage, { prompt: "Make coffee." });
  expect(made.error?.kind === "rate-limit", () => describeTurn(made));
}

export async function serverError(stage: Stage): Promise<void> {
  stage.server.otherwise({ error: { kind: "server", retryAfter: 1 } });
  const made = await makeTurn(stage, { prompt: "Make coffee." });
  expect(made.error?.kind === "server", () => describeTurn(made));
}

export async function authentication(stage: Stage): Promise<void> {
  stage.server.otherwise({ error: { kind: "authentication", retryAfter: 1 } });
  const made = await makeTurn(stage, { prompt: "Make coffee." });
  expect(made.error?.kind === "authentication", () => describeTurn(made));
}

function outputTokens(events: Awaited<ReturnType<typeof makeTurn>>["all"]): number {
  return events.reduce((sum, event) => sum + (event.kind === "usage" ? event.usage.outputTokens : 0), 0);
}

function costOf(events: Awaited<ReturnType<typeof makeTurn>>["all"]): number {
  return events.reduce((sum, event) => sum + (event.kind === "usage" ? (event.usage.cost ?? Number.NaN) : 0), 0);
}
