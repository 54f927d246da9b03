import type { RunView } from "../../api/agents.ts";
import type { CrewView, SlotView } from "../../api/tickets.ts";
import { aboutTickets, aboutTroubles, writeSlots } from "../tables.ts";
import { clip, count } from "../text.ts";
import { emptyLines, type Frame } from "./rows.ts";

/** The current state of a crew. */
export interface CrewBoard {
  readonly crew: CrewView;
  readonly runs: readonly RunView[];
}

const states = ["working", "ready", "stuck", "done", "idle"] as const;

/** One screen of a crew: its agents, idle ones too, and the waiting tickets. */
export function crewLines({ crew, runs }: CrewBoard, frame: Frame): readonly string[] {
  const { columns, rows, paint, now, title, trouble } = frame;
  const counts = states.flatMap((state) => {
    const many = crew.agents.filter((slot) => slot.state === state).length;
    return many === 0 ? [] : [`${many} ${state}`];
  });
  const summary = [count(crew.agents.length, "agent"), ...counts].join(" · ");
  const head = [
    paint.bold(clip(`${title}  ${summary}`, columns)),
    clip(aboutTickets(crew), columns),
    ...(trouble === "" ? [] : [paint.red(clip(trouble, columns))]),
    ...aboutTroubles(crew).map(({ isTrouble, text }) => (isTrouble ? paint.yellow : paint.dim)(clip(text, columns))),
  ];
  const last = { title: "WHAT", says: (slot: SlotView) => slot.reason || whatOf(slot, runs), cuts: true };
  const body =
    crew.agents.length === 0
      ? emptyLines(frame, noAgents)
      : writeSlots({ paint, columns }, crew.agents, now, last).split("\n");
  const room = Math.max(1, rows - head.length - 2);
  const more = paint.dim(clip(`… ${body.length - room + 1} more: signalbox crew ps`, columns));
  const shown = body.length > room ? [...body.slice(0, room - 1), more] : body;
  const lines = [...head, "", ...shown].slice(0, Math.max(1, rows - 1));
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  return rows < 3 ? lines.slice(0, rows) : [...lines, ...blank, paint.dim(clip(hint, columns))];
}

const hint = "q leave   signalbox crew peek NAME: its screen   signalbox crew logs NAME: its output";

/** A line for each agent. */
export function slotLines({ crew }: CrewBoard): ReadonlyMap<string, string> {
  return new Map(
    crew.agents.map(({ name, state, ticket, task, reason }) => [
      name,
      [name, state, ticket, task, reason.replace(/\s+/g, " ")].filter(Boolean).join("  "),
    ]),
  );
}

/** What an agent's program is doing. */
function whatOf({ task, lastTask }: SlotView, runs: readonly RunView[]): string {
  const run = task === "" ? undefined : runs.findLast((each) => each.task === lastTask && each.activity !== "ended");
  if (run === undefined) return "";
  return run.raised || run.what || run.activity;
}

const noAgents = {
  why: "There are no agents yet. Create some in another terminal:",
  command: "signalbox crew spawn 3",
  then: "They appear here immediately.",
};
