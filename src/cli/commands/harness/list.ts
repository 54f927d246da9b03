import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";
import { writeTime } from "../../write-time.ts";

export async function list(this: Context, { json }: { json: boolean }) {
  const answer = await createCall(this)(routes.listHarnesses, { query: {} });
  if (json) return this.print(writeJson(answer));
  const { harnesses } = answer;
  const { bold, green, yellow, dim } = this.paint;
  const table = [
    { title: " ", paint: (cell: string) => (cell === "✓" ? green(cell) : cell === "!" ? yellow(cell) : dim(cell)) },
    { title: "NAME", paint: bold },
    { title: "TITLE" },
    { title: "VERSION" },
    { title: "AT WORK", align: "right" as const },
    { title: "WHERE", paint: (cell: string, row: number) => (harnesses[row]?.found ? cell : yellow(cell)) },
  ];
  const rows = harnesses.map(({ name, title, found, version, path, login, limitedUntil, atWork }) => {
    const where = found ? path : "not installed";
    const limited = limitedUntil === null ? "" : `; takes no more until ${writeTime(limitedUntil)}`;
    const out = login === "out" ? "; not logged in" : "";
    return [
      !found ? "–" : login === "out" ? "!" : "✓",
      name,
      title,
      version || "–",
      String(atWork),
      `${where}${out}${limited}`,
    ];
  });
  this.print(writeTable(table, rows, this.tableWidth));
  const missing = harnesses.find(({ found }) => !found);
  const out = harnesses.find(({ login }) => login === "out");
  if (out !== undefined) this.say(`\nTo see how to log in: signalbox harness check ${out.name}`);
  if (missing !== undefined) this.say(`\nTo see how one is installed: signalbox harness check ${missing.name}`);
}
