import type { HarnessView } from "../../../api/agent-wires.ts";
import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { listed } from "../../count.ts";
import { exitCodes } from "../../exit-code.ts";
import { given } from "../../given.ts";
import { wrap } from "../../wrap.ts";
import { writeJson } from "../../write-json.ts";
import { writeTime } from "../../write-time.ts";

export async function check(this: Context, { json }: { json: boolean }, name?: string) {
  const answer = await createCall(this)(routes.listHarnesses, { query: given({ name }) });
  const isMissing = name !== undefined && answer.harnesses.some(({ found }) => !found);
  if (isMissing) this.process.exitCode = exitCodes.failed;
  if (json) return this.print(writeJson(answer));
  this.print(answer.harnesses.map((harness) => describe(harness, this)).join("\n\n"));
}

function describe(harness: HarnessView, { paint, columns }: Context): string {
  const { name, title, found, path, version, hint, login, loginHint, limitedUntil, can } = harness;
  const mark = !found ? paint.red("✗") : login === "out" ? paint.yellow("!") : paint.green("✓");
  const limit =
    limitedUntil === null
      ? ""
      : `its provider takes no more until ${writeTime(limitedUntil)}; if that does not hold any more: signalbox resume --harness ${name}`;
  const logins = { in: "logged in", out: `not logged in. ${loginHint}`, unknown: "" };
  const row = (label: string, text: string) =>
    text === "" ? [] : [`  ${label.padEnd(width)}${wrap(text, columns - width - 2, " ".repeat(width + 2))}`];
  return [
    `${mark} ${paint.bold(name)}  ${title}${found ? ` ${version}` : ", not installed"}`,
    ...row("path", path),
    ...row("login", logins[login]),
    ...row("can", listed(abilities.filter(([is]) => is(can)).map(([, words]) => words))),
    ...row("lacks", listed(abilities.filter(([is]) => !is(can)).map(([, words]) => words))),
    ...row("limit", limit),
    ...row(found ? "note" : "to do", hint),
  ].join("\n");
}

const width = 7;

const abilities: readonly (readonly [(can: HarnessView["can"]) => boolean, string])[] = [
  [({ session }) => session, "terminal sessions"],
  [({ turn }) => turn, "turns without a terminal"],
  [({ resume }) => resume, "going on in an earlier session"],
  [({ model }) => model, "a model of your choice"],
  [({ effort }) => effort, "a choice of effort"],
  [({ reduced }) => reduced === "enforced", "reduced permissions that it enforces"],
  [({ withholds }) => withholds.length > 0, "doing without some tools"],
  [({ schema }) => schema, "answers in a form that is asked for"],
  [({ system }) => system, "instructions apart from the prompt"],
  [({ mcp }) => mcp, "MCP servers"],
  [({ acknowledges }) => acknowledges !== "no", "a sign that messages arrive"],
  [({ tokens }) => tokens, "counts of tokens"],
  [({ cost }) => cost, "what it costs"],
];
