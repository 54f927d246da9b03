import { buildRouteMap } from "@stricli/core";
import type { HarnessView, SandboxView } from "../../api/agents.ts";
import { routes } from "../../api/routes.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { offerHarnesses } from "../offers.ts";
import { writeTable } from "../tables.ts";
import { given, listed, wrap, writeJson, writeTime } from "../text.ts";
import { command } from "./command.ts";
import { json, optionalWord } from "./parameters.ts";

/** A harness, as the API returns it. */
const harnessForm = `{ name, title, found, path, version, hint, login, loginHint, limitedUntil, atWork, can: { session, turn, resume, namesSession,
  model, effort, reduced, withholds, toolsByName, schema, system, mcp, acknowledges, tokens, cost } }`;

const check = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        { ...optionalWord("NAME", "A harness, such as claude; otherwise all"), proposeCompletions: offerHarnesses },
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Say whether a harness is installed and logged in, what it can do and what it lacks",
    fullDescription: `At the end it says whether agents run in a sandbox (agents.sandbox in your configuration).

--json: { harnesses: [${harnessForm}], sandbox: { setting, works, version, reason, fix } }
Exit codes: 0 ok, 1 the named harness is not installed or does not exist, 2 wrong usage`,
  },
  async func({ json }, name) {
    const answer = await createCall(this)(routes.listHarnesses, { query: given({ name }) });
    const isMissing = name !== undefined && answer.harnesses.some(({ found }) => !found);
    if (isMissing) this.process.exitCode = exitCodes.failed;
    if (json) return this.print(writeJson(answer));
    this.print(answer.harnesses.map((harness) => describe(harness, this)).join("\n\n"));
    // An older daemon does not report it.
    if (answer.sandbox !== undefined) this.say(`\n${wrap(sandboxText(answer.sandbox), this.columns)}`);
  },
});

function describe(harness: HarnessView, { paint, columns }: Context): string {
  const { name, title, found, path, version, hint, login, loginHint, limitedUntil, can } = harness;
  const mark = !found ? paint.red("✗") : login === "out" ? paint.yellow("!") : paint.green("✓");
  const limit =
    limitedUntil === null
      ? ""
      : `its provider's limit is reached until ${writeTime(limitedUntil)}; if that no longer applies: signalbox resume --harness ${name}`;
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

function sandboxText({ setting, works, version, reason, fix }: SandboxView): string {
  if (setting === "off") return "Agents run without a sandbox, by your setting agents.sandbox.";
  if (works) return `Agents in workspaces of kind clone run in a sandbox (bubblewrap ${version}).`;
  const result = setting === "on" ? "No agent can start" : "Agents run without a sandbox";
  return `${result}: ${reason} ${fix}`;
}

const width = 7;

const abilities: readonly (readonly [(can: HarnessView["can"]) => boolean, string])[] = [
  [({ session }) => session, "terminal sessions"],
  [({ turn }) => turn, "turns without a terminal"],
  [({ resume }) => resume, "resuming an earlier session"],
  [({ model }) => model, "a model of your choice"],
  [({ effort }) => effort, "a choice of effort"],
  [({ reduced }) => reduced === "enforced", "reduced permissions that it enforces"],
  [({ withholds }) => withholds.length > 0, "withholding some tools"],
  [({ schema }) => schema, "answers that follow a schema"],
  [({ system }) => system, "instructions apart from the prompt"],
  [({ mcp }) => mcp, "MCP servers"],
  [({ acknowledges }) => acknowledges !== "no", "confirmation that messages arrive"],
  [({ tokens }) => tokens, "token counts"],
  [({ cost }) => cost, "costs"],
];

const list = command({
  parameters: { flags: { json } },
  docs: {
    brief: "List the harnesses, and which are installed",
    fullDescription: `The harnesses that come with Signalbox, and those of your configuration.

--json: { harnesses: [${harnessForm}], sandbox: { setting, works, version, reason, fix } }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
  async func({ json }) {
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
      const limited = limitedUntil === null ? "" : `; limit reached until ${writeTime(limitedUntil)}`;
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
    if (missing !== undefined) this.say(`\nTo see how to install one: signalbox harness check ${missing.name}`);
  },
});

export const harnessCommands = buildRouteMap({
  routes: { list, check },
  aliases: { ls: "list" },
  docs: { brief: "Inspect the programs that agents run in" },
});
