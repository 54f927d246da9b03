import type { Capabilities } from "../../../src/ports/harness.ts";
import type { Candidate } from "../candidate.ts";
import type { Stage } from "../stage.ts";
import { adopt } from "./adopt.ts";
import { deliverMany, endsChildren, teamLife, wholeLife } from "./daemon.ts";
import * as headless from "./headless.ts";
import { callsCli, deliver, start } from "./interactive.ts";
import { refreshesLogin } from "./login.ts";
import { knowsSkill } from "./skill.ts";
import { pipelineRuns, stageTools } from "./stages.ts";

export interface Behaviour {
  readonly name: string;
  /** Whether the harness supports the behaviour; if not, the behaviour is not tested. */
  readonly needs: (can: Capabilities, candidate: Candidate) => boolean;
  /** Throws if the harness does not show the behaviour. */
  readonly run: (stage: Stage) => Promise<void>;
}

const turn = (name: string, run: Behaviour["run"]): Behaviour => ({ name, run, needs: (can) => can.turn });
const session = (name: string, run: Behaviour["run"]): Behaviour => ({ name, run, needs: (can) => can.session });

/** The rows of the table. */
export const behaviours: readonly Behaviour[] = [
  turn("a turn", headless.turn),
  turn("tools that edit files", headless.edit),
  turn("resume", headless.resume),
  turn("a JSON answer", headless.json),
  { ...turn("reduced: refuses to write", headless.reduced), needs: (can) => can.turn && can.reduced === "enforced" },
  turn("reduced: does what it may", headless.reducedMay),
  {
    ...turn("does without tools", headless.withoutTools),
    needs: ({ turn: can, withholds }) => can && withholds.includes("write"),
  },
  ...pipelineRuns.map(({ state, spec }) => ({
    ...turn(`pipeline ${state}: its tools only`, stageTools(spec)),
    needs: ({ turn: can, withholds }: Capabilities) => can && withholds.includes("execute"),
  })),
  { ...turn("our MCP server", headless.mcp), needs: (can, { mcp }) => can.turn && can.mcp && mcp !== undefined },
  turn("rate limit", headless.rateLimit),
  turn("server error", headless.serverError),
  turn("wrong key", headless.authentication),
  { ...turn("a refreshed login is kept", refreshesLogin), needs: (can, { login }) => can.turn && login !== undefined },
  turn("kill and adopt", adopt),
  session("starts without dialogs", start),
  session("messages acknowledged, once", deliver),
  session("calls our command line", callsCli),
  session("a whole life below the daemon", wholeLife),
  {
    ...turn("a team below the daemon", teamLife),
    needs: (can, { program }) => can.turn && ["claude", "codex"].includes(program),
  },
  session("its children end with it", endsChildren),
  session("50 messages from the daemon, once", deliverMany),
  { name: "knows the skill that install puts", run: knowsSkill, needs: (_, { skills }) => skills !== undefined },
];
