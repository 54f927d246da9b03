import { routes } from "../../../api/routes.ts";
import { marksOf, writeIdleAgents, writeRuns } from "../../agent-table.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { pause } from "../../pause.ts";
import { unlessInterrupted, untilInterrupted } from "../../until-interrupted.ts";
import { writeJson } from "../../write-json.ts";

export interface PsFlags {
  readonly all: boolean;
  readonly project?: string;
  readonly watch: boolean;
  readonly json: boolean;
}

const interval = 1_000;

export async function ps(this: Context, { all, project, watch, json }: PsFlags) {
  const ending = watch ? untilInterrupted() : undefined;
  const call = createOnlooker(this, ending);
  const look = async () => {
    const { runs } = await call(routes.listRuns, { query: given({ project, all: all ? "true" : undefined }) });
    const { agents } = await call(routes.listAgents, { query: given({ project }) });
    return { runs, agents };
  };
  const shape = { paint: this.paint, columns: this.tableWidth };
  const show = ({ runs, agents }: Awaited<ReturnType<typeof look>>) => {
    if (runs.length > 0) this.print(writeRuns(runs, shape, Date.now()));
    const idle = agents.filter(({ state }) => state === "idle");
    if (idle.length > 0) this.print(`${runs.length > 0 ? "\n" : ""}${writeIdleAgents(idle, shape)}`);
    if (runs.length === 0) this.say(whyEmpty(all, project));
    else this.say(`\n${marksOf(runs)}`);
  };
  if (ending === undefined) {
    const seen = await look();
    return json ? this.print(writeJson(seen)) : show(seen);
  }
  for (let last = ""; !ending.aborted; await pause(interval, ending)) {
    const seen = await look().catch(unlessInterrupted(ending));
    if (seen === undefined) return;
    const now = JSON.stringify(seen);
    // On a terminal the ages change by themselves.
    if (now === last && (json || !this.isTerminal)) continue;
    last = now;
    if (json) this.print(writeJson(seen, 0));
    else {
      // Written past what keeps control characters from terminals: here it is meant.
      if (this.isTerminal) this.process.stdout.write("\u001b[H\u001b[2J");
      show(seen);
    }
  }
}

function whyEmpty(all: boolean, project: string | undefined): string {
  const where = project === undefined ? "" : ` for ${project}`;
  const more = all ? "" : " To see those that have ended: signalbox agent ps --all\n";
  const begin = all ? `No agent has worked${where} yet.` : `No agent is at work${where}.${more.trimEnd()}`;
  return `${begin}\nTo give one something to do: signalbox task create "What is to be done"`;
}
