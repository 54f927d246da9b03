import type { RunView } from "../../api/agents.ts";
import type { HandedOver } from "../../api/hand-over.ts";
import { routes } from "../../api/routes.ts";
import { didYouMean } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import { isJsonObject } from "../../json.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { nameTask } from "../find.ts";
import { writeTable } from "../tables.ts";
import { wrapMessage, writeJson, writeSize } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, optionalWord, task, taskExitCodes } from "./parameters.ts";
import { runsOf } from "./task-look.ts";

export const documents = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, optionalWord("NAME", "Print this document: its name, type or title; of several, the newest")],
    },
    flags: {
      "pull-request": flag("Print the description of its pull request, and the comments that Signalbox made for it"),
      json,
    },
  },
  docs: {
    brief: "List and print what agents have handed over: documents, messages, answers and reports",
    fullDescription: `Agents hand documents over to the states after theirs, send messages to them, answer in the form that their workflow asks for, and say at their end what they did. Of each form of answer, the last one is kept: it says, for example, why a specification was sent back. Without a forge, the description of the pull request and its comments are kept here. A run sees the documents and the messages of its own task.

Examples:
  signalbox task documents coffee#12
  signalbox task documents coffee#12 spec
  signalbox task documents coffee#12 --pull-request

--json: { task, documents: [{ type, title, path, sha256, bytes, role, run, commit, state }], messages: [{ from, to, priority, text, role, run, isRead }], answers: [{ schema, answer }],
  pullRequest: { number, url, title, body, comments }, reports: [{ run, report }] }. With NAME, the one document, with its text
${taskExitCodes("failed")}`,
  },
  async func({ "pull-request": isPullRequest, json }, reference, name) {
    if (isPullRequest && name !== undefined)
      throw new Fault("usage", "NAME and --pull-request cannot both be given.", { hint: "Leave one of them out." });
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const found = await call(routes.listHandedOver, about);
    const one = { params: { task: found.task } };
    if (name !== undefined) {
      const { path } = documentNamed(found, name);
      const { documents } = await call(routes.listHandedOver, { ...one, query: { path } });
      const [document] = documents;
      return this.print(json ? writeJson(document) : (document?.text ?? ""));
    }
    if (isPullRequest) {
      const kept = pullRequestOf(found);
      return this.print(json ? writeJson(kept) : describePullRequest(kept));
    }
    const reports = (await runsOf(call, found.task)).filter(({ report }) => report !== "");
    if (json)
      return this.print(writeJson({ ...found, reports: reports.map(({ key, report }) => ({ run: key, report })) }));
    const lines = describe(found, reports, this);
    if (lines.length === 0) return this.say("No agent of the task has handed anything over yet.");
    this.print(lines.slice(1).join("\n"));
    const [first] = found.documents;
    if (first !== undefined) this.say(`\nTo read a document: signalbox task documents ${found.task} ${nameOf(first)}`);
    const { pullRequest = null } = found;
    if (pullRequest !== null && pullRequest.body + pullRequest.comments.join("") !== "")
      this.say(`\nTo read the pull request's description: signalbox task documents ${found.task} --pull-request`);
  },
});

type Document = HandedOver["documents"][number];

/** The name of its file, which is unique in the task. */
function nameOf({ path }: Document): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function documentNamed({ task, documents }: HandedOver, name: string): Document {
  const wanted = name.trim().toLowerCase();
  const found = (["name", "type", "title"] as const)
    .map((key) => documents.findLast((each) => fieldsOf(each)[key].some((text) => text.toLowerCase() === wanted)))
    .find((each) => each !== undefined);
  if (found !== undefined) return found;
  throw new Fault("not-found", `No agent of the task has handed over a document "${name}".`, {
    hint:
      documents.length === 0
        ? `There are none yet. See what it has: signalbox task documents ${task}`
        : didYouMean(name, documents.map(nameOf)),
  });
}

function fieldsOf(document: Document): Readonly<Record<"name" | "type" | "title", readonly string[]>> {
  return { name: [nameOf(document), document.path], type: [document.type], title: [document.title] };
}

type PullRequest = NonNullable<HandedOver["pullRequest"]>;

function pullRequestOf({ task, pullRequest = null }: HandedOver): PullRequest {
  if (pullRequest !== null) return pullRequest;
  throw new Fault("not-found", "The task has no pull request yet.", {
    hint: `To open one: signalbox task create-pr ${task}`,
  });
}

function describePullRequest({ title, body, comments }: PullRequest): string {
  return [[`# ${title}`, body.trim()].filter((text) => text !== "").join("\n\n"), ...comments].join("\n\n---\n\n");
}

/** Sections with an empty line before each; empty where nothing was handed over. */
function describe(
  { documents, messages, answers = [] }: HandedOver,
  reports: readonly RunView[],
  { paint, columns, tableWidth }: Context,
): readonly string[] {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
  const entry = (head: string, text: string) => [`  ${head}`, `    ${wrapMessage(text, columns - 4, "    ")}`];
  const titles = [
    { title: "NAME", paint: paint.bold },
    { title: "TYPE" },
    { title: "BY" },
    { title: "STATE", paint: paint.cyan },
    { title: "SIZE", align: "right" },
    { title: "TITLE", isText: true },
  ] as const;
  const rows = documents.map((each) => [
    ...[nameOf(each), each.type, each.run, each.state, writeSize(each.bytes), each.title],
  ]);
  return [
    ...section("Documents", rows.length === 0 ? [] : [writeTable(titles, rows, tableWidth)]),
    ...section(
      "Messages",
      messages.flatMap(({ from, to, priority, run, text, isRead }) => {
        const more = [run, ...(priority === "normal" ? [] : [priority]), ...(isRead ? [] : ["not read yet"])];
        return entry(`${paint.cyan(`${from} → ${to}`)} (${more.join(", ")})`, text);
      }),
    ),
    ...section(
      "Last answers",
      answers.flatMap(({ schema, answer }) => entry(schema, describeAnswer(answer))),
    ),
    ...section(
      "Reports",
      reports.flatMap(({ key, report }) => entry(key, report)),
    ),
  ];
}

/** `outcome: revise; reason: Say what a large cup is.` */
function describeAnswer(answer: unknown): string {
  if (!isJsonObject(answer)) return JSON.stringify(answer);
  const parts = Object.entries(answer).map(
    ([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  );
  return parts.join("; ");
}
