import type { Call } from "../../api/client.ts";
import { Refusal } from "../../api/error.ts";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { count } from "../count.ts";
import { writeRefusal } from "../write-refusal.ts";
import { isRecord } from "./json-rpc.ts";
import type { Tool } from "./tool.ts";

const own = { params: { task: "." }, query: {} };

/** The tools of a run. Which task they are about nobody can say: its credential does. */
export function runTools(call: Call, token: string | undefined): readonly Tool[] {
  return [
    {
      name: "task_update",
      title: "Update the task",
      description:
        "Ask for the next state of your task, or change its summary or the name of its branch. What is refused says what is missing; then mend it and ask again.",
      inputSchema: form({
        status: "The state to ask for",
        summary: "The task in one line",
        branch: "The new name of its branch",
      }),
      call: safely(token, async (input) => {
        const { status, summary, branch } = texts(input, ["status", "summary", "branch"]);
        const set = { ...(summary === undefined ? {} : { summary }), ...(branch === undefined ? {} : { branch }) };
        const isEdit = Object.keys(set).length > 0;
        if (!isEdit && status === undefined)
          throw new Fault("usage", "There is nothing to change.", { hint: "Give status, summary or branch." });
        const edited = isEdit ? await call(routes.editTask, { ...own, body: set }) : undefined;
        const moved = status === undefined ? undefined : await move(call, status, isEdit);
        return [...(edited === undefined ? [] : [`Changed: ${Object.keys(set).join(", ")}.`]), ...(moved ?? [])];
      }),
    },
    {
      name: "comment",
      title: "Comment on the task",
      description: "Write something into the history of your task, for the people who follow it.",
      inputSchema: form({ text: "What they should know" }, ["text"]),
      call: safely(token, async (input) => {
        const { text = "" } = texts(input, ["text"]);
        if (text.trim() === "") throw new Fault("usage", "The comment is empty.", { hint: "Say something." });
        await call(routes.commentTask, { ...own, body: { text } });
        return ["It stands in the history of the task."];
      }),
    },
  ];
}

async function move(call: Call, to: string, wasEdited: boolean): Promise<readonly string[]> {
  try {
    const { kind, from, task, why } = await call(routes.moveTask, { ...own, body: { to } });
    const said = kind === "moved" ? `${from} → ${task.status}` : kind === "stayed" ? task.status : why;
    return [said, ...(task.held === null ? [] : [`Held for a person: ${task.held.reason}`])];
  } catch (error) {
    if (!(error instanceof Refusal) || !wasEdited) throw error;
    throw new Fault("refused", written(error, "Nothing else has changed."), { cause: error });
  }
}

/** Whatever goes wrong is the agent's to read: the protocol's own errors are for its client. */
function safely(token: string | undefined, work: (input: unknown) => Promise<readonly string[]>): Tool["call"] {
  return async (input) => {
    try {
      if (!token)
        throw new Fault("caller.unknown", "This server speaks for a run, and has no SIGNALBOX_TOKEN to show for one.", {
          hint: "Use it only where Signalbox has started the agent.",
        });
      return { text: (await work(input)).join("\n"), isError: false };
    } catch (error) {
      return { text: written(error), isError: true };
    }
  };
}

function written(error: unknown, last = "Nothing has changed."): string {
  if (error instanceof Refusal) {
    const { message, hint } = writeRefusal(error.reasons, last);
    return `${message}\n${hint}`;
  }
  if (error instanceof Fault) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
  return `Signalbox made a mistake of its own: ${error instanceof Error ? error.message : String(error)}`;
}

function form(texts: Readonly<Record<string, string>>, required: readonly string[] = []): unknown {
  const properties = Object.entries(texts).map(([name, description]) => [name, { type: "string", description }]);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function texts<Name extends string>(input: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  if (!isRecord(input)) throw new Fault("usage", "The arguments must be an object.");
  const wrong = Object.entries(input).filter(
    ([name, value]) => !names.includes(name as Name) || typeof value !== "string",
  );
  if (wrong.length === 0) return input as Partial<Record<Name, string>>;
  throw new Fault("usage", `The tool does not take ${count(wrong.length, "argument")} as given: ${wrong[0]?.[0]}.`, {
    hint: `It takes ${names.join(", ")}, each a text.`,
  });
}
