import type { RunView } from "../../../api/agent-wires.ts";
import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProjectToShow } from "../../find-project.ts";
import { findSlotToShow, lastTaskOf } from "../../find-slot.ts";
import { type CrewBoard, crewLines, slotLines } from "../../watch-crew.ts";
import { watchLive, withRun } from "../../watch-live.ts";
import { peek as peekAtTask } from "../task/peek.ts";
import { asState, type CrewFlags } from "./ps.ts";

interface Named {
  readonly project?: string;
}

export async function peek(
  this: Context,
  { project, ...flags }: Named & { readonly lines?: number; readonly color: boolean; readonly json: boolean },
  name: string,
) {
  const { slot } = await findSlotToShow(createCall(this), project, name);
  await peekAtTask.call(this, flags, lastTaskOf(slot));
}

export async function dashboard(this: Context, flags: CrewFlags) {
  const { name: project } = await findProjectToShow(createCall(this), flags.project);
  const watched = {
    project,
    look: async (call: Call): Promise<CrewBoard> => {
      const crew = await call(routes.getCrew, { params: { project } });
      return { crew, runs: (await call(routes.listRuns, { query: { project } })).runs };
    },
    withRun: (board: CrewBoard, run: RunView) => ({ ...board, runs: withRun(board.runs, run) }),
    lines: crewLines,
    document: ({ crew }: CrewBoard) => ({ agents: crew.agents.map(asState) }),
    texts: slotLines,
  };
  await watchLive(this, watched, flags.json);
}
