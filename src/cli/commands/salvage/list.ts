import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { repositories } from "../../count.ts";
import { given } from "../../given.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeSize } from "../../write-size.ts";
import { writeTime } from "../../write-time.ts";

export interface ListFlags {
  readonly project?: string;
  readonly json: boolean;
}

export async function list(this: Context, { project, json }: ListFlags) {
  const answer = await createCall(this)(routes.listSalvage, { query: given({ project }) });
  if (json) return this.print(writeJson(answer));
  const { salvaged, unreadable } = answer;
  for (const { project: of, problem } of unreadable) this.say(`The salvage of ${of} cannot be read: ${problem}`);
  if (salvaged.length === 0) return unreadable.length === 0 ? this.say("Nothing is salvaged.") : undefined;
  const columns = [
    { title: "REF", paint: this.paint.bold },
    { title: "PROJECT" },
    { title: "WHEN" },
    { title: "FILES", align: "right" },
    { title: "SIZE", align: "right" },
    { title: "ON" },
  ] as const;
  const rows = salvaged.map(({ ref, project: of, at, files, size, on, problem }) =>
    problem === ""
      ? [ref, of, writeTime(at), String(files), writeSize(size), on || "–"]
      : [ref, of, "–", "–", "–", "cannot be read"],
  );
  this.print(writeTable(columns, rows, this.tableWidth));
  for (const { ref, problem } of salvaged) if (problem !== "") this.say(`${ref} cannot be read: ${problem}`);
  for (const { ref, repositories: inside } of salvaged)
    if (inside.length > 0) this.say(`${ref} has ${repositories(inside)}, with commits or files that nobody else has.`);
  this.say("\nTo get one back: signalbox salvage restore REF --to FOLDER");
}
