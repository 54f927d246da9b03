import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadWorkflow } from "../../../src/engine/language/load.ts";
import { chooseTools, classOf, type Tool, type ToolClass } from "../../../src/engine/tools.ts";
import type { RunSpec } from "../../../src/engine/workflow.ts";
import { packageRoot } from "../../../src/home/places.ts";
import type { Answer } from "../../model-server/server.ts";
import { expect, type Stage } from "../stage.ts";
import { describeTurn, makeTurn } from "../turn.ts";

/** Each agent of the built-in workflow `pipeline`, by its state. The scouts and the judge of a panel have the same tools. */
export const pipelineRuns: readonly { readonly state: string; readonly spec: RunSpec }[] = runsOf("pipeline");

function runsOf(name: string) {
  const file = join(packageRoot(), "workflows", `${name}.yml`);
  const { workflow, problems } = loadWorkflow(readFileSync(file, "utf8"), file);
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return Object.entries(workflow.states).flatMap(([state, { wait }]) => {
    const spec = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.member : undefined;
    return spec?.tools === undefined ? [] : [{ state, spec }];
  });
}

/** The tools that the stand-in for our MCP server has. */
const own = ["task_update", "comment", "stage_message", "work_complete"];

/** The model asks for everything; the program does what the state lists, and nothing else. */
export function stageTools({ tools, permissions }: RunSpec): (stage: Stage) => Promise<void> {
  return async (stage) => {
    const { candidate, server, folder, eventsFile } = stage;
    const { classes, own: listed = [] } = chooseTools(tools);
    const [written, commanded] = ["written.txt", "commanded.txt"].map((name) => join(folder, name)) as [string, string];
    const calls = join(dirname(eventsFile), "mcp-calls");
    const asked: readonly Answer[] = [
      { calls: [candidate.read(stage.tracked)] },
      { calls: [candidate.write(written, "poison\n")] },
      { calls: [candidate.shell("echo poison > commanded.txt")] },
      ...own.flatMap((tool) => candidate.mcp?.(tool) ?? []).map((call) => ({ calls: [call] })),
    ];
    server.add(...asked, { say: "That was all." });
    const argv = [process.execPath, join(import.meta.dirname, "..", "mcp-server.mjs")];
    const env = { CALLS_FILE: calls, OFFERED: own.join(",") };
    const made = await makeTurn(stage, { prompt: "Try everything.", tools, permissions, mcp: { argv, env } });
    const last = server.requests.findLast(({ isSide }) => !isSide);
    const told = () => `${JSON.stringify(last?.toolResults.map((each) => each.slice(0, 200)))} ${describeTurn(made)}`;
    expect(made.text.includes("That was all."), told);
    expect(last?.toolResults[0]?.includes("beans") ?? false, () => `it could not read: ${told()}`);
    const may = (what: ToolClass, file: string) =>
      expect(existsSync(file) === classes.has(what), () => `${what} is ${classes.has(what)} otherwise: ${told()}`);
    may("write", written);
    may("execute", commanded);
    const called = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
    expect(String(called) === String(own.filter((tool) => listed.includes(tool))), () => `${called}: ${told()}`);
    checkOffered(stage, { tools, permissions }, last?.tools ?? []);
  };
}

/** Every tool that is listed is offered to the model; others are not, if the harness chooses tools by name. */
function checkOffered(
  { candidate, harness }: Stage,
  { tools, permissions }: Pick<RunSpec, "tools" | "permissions">,
  offered: readonly string[],
): void {
  const listed = chooseTools(tools).tools;
  for (const [tool, name] of Object.entries(candidate.offers) as readonly (readonly [Tool, string])[]) {
    const isOffered = offered.includes(name);
    const isWanted = listed.includes(tool);
    // With reduced permissions the tools for writing may be there for the task file alone.
    const mayBeThere = permissions === "reduced" && classOf(tool) === "write";
    const isEnforced = classOf(tool) === "web" || (harness.can.toolsByName && !mayBeThere);
    expect(isOffered || !isWanted, () => `${name} is not offered, only ${offered}`);
    expect(!isOffered || isWanted || !isEnforced, () => `${name} is offered: ${offered}`);
  }
}
