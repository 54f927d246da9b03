import { handOverTools, priorities } from "../engine/handed.ts";
import { Fault } from "../fault.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { type BodyOf, type Call, Refusal, writeRefusal } from "./client.ts";
import type { Tool } from "./mcp-server.ts";
import { routes } from "./routes.ts";
import type { ChangeView } from "./tasks.ts";
import { type JsonSchema, problemsOf, type Wire } from "./wire.ts";

/** How a run's server reaches the daemon. A move and a comment must not be made twice where an answer is lost. */
export interface RunCalls {
  readonly call: Call;
  move(to: string): Promise<ChangeView>;
  comment(text: string): Promise<unknown>;
}

const own = { params: { task: "." }, query: {} };

/** The tools of a run. The run's credential determines the task; a caller cannot choose another. */
export function runTools({ call, move, comment }: RunCalls): readonly Tool[] {
  return [
    {
      name: "task_update",
      title: "Update the task",
      description:
        "Ask for the next state of your task, or change its summary or the name of its branch. A refusal says what is missing; then fix it and ask again.",
      inputSchema: form({
        status: "The state to ask for",
        summary: "The task in one line",
        branch: "The new name of its branch",
      }),
      call: safely(async (input) => {
        const { status, summary, branch } = texts(input, ["status", "summary", "branch"]);
        const set = { ...(summary === undefined ? {} : { summary }), ...(branch === undefined ? {} : { branch }) };
        const isEdit = Object.keys(set).length > 0;
        if (!isEdit && status === undefined)
          throw new Fault("usage", "There is nothing to change.", { hint: "Give status, summary or branch." });
        const edited = isEdit ? await call(routes.editTask, { ...own, body: set }) : undefined;
        const moved = status === undefined ? undefined : await moveBy(move, status, isEdit);
        return [...(edited === undefined ? [] : [`Changed: ${Object.keys(set).join(", ")}.`]), ...(moved ?? [])];
      }),
    },
    {
      name: "comment",
      title: "Comment on the task",
      description: "Write something into the history of your task, for the people who follow it.",
      inputSchema: form({ text: "What they should know" }, ["text"]),
      call: safely(async (input) => {
        const { text = "" } = texts(input, ["text"]);
        if (text.trim() === "") throw new Fault("usage", "The comment is empty.", { hint: "Give a text." });
        await comment(text);
        return ["The comment is in the task's history."];
      }),
    },
    {
      name: handOverTools.message,
      title: "Send a message to another state",
      description:
        "Tell the agents, or the people, of another state of the workflow something; to all of them with the state all.",
      inputSchema: {
        ...form({}, ["to", "message"]),
        properties: { ...formTexts({ to: "The state, or all", message: "What they should know" }), priority },
      },
      call: safely(async (input) => {
        const body = shaped(routes.sendStageMessage.body, input);
        const { to, isNew } = await call(routes.sendStageMessage, { ...own, body });
        return [isNew ? `The message is kept for ${to}.` : `The message for ${to} was kept before.`];
      }),
    },
    {
      name: handOverTools.complete,
      title: "Complete the work",
      description:
        "Say that your work in this state is complete: what you did, the outcome, and the documents that later states need. It counts when you end, however you end. Call it last.",
      inputSchema: completeSchema,
      call: safely(async (input) => {
        const body = shaped(routes.completeWork.body, input);
        const { outcome, documents, isNew } = await call(routes.completeWork, { ...own, body });
        const kept = documents.length === 0 ? "" : ` Documents: ${documents.join(", ")}.`;
        return [`Your work is complete with the outcome ${outcome}${isNew ? "" : ", as you said before"}.${kept}`];
      }),
    },
  ];
}

const priority = { type: "string", enum: priorities, description: "How important it is; normal if it is not given" };

const completeSchema: JsonSchema = {
  type: "object",
  properties: {
    summary: { type: "string", description: "What was done, in a sentence or two" },
    outcome: {
      type: "string",
      enum: ["done", "revise"],
      description: "done, or revise where you reviewed something that must be changed; done if it is not given",
    },
    reason: { type: "string", description: "With revise: what to change" },
    documents: {
      type: "array",
      description: "Texts for later states, 1 MB each at most; the same type and title replaces an earlier one",
      items: {
        type: "object",
        properties: {
          type: { type: "string", description: "A word, such as context-pack or spec" },
          title: { type: "string" },
          text: { type: "string", description: "Markdown" },
        },
        required: ["type", "title", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["summary"],
  additionalProperties: false,
};

/** The names of the tools that a run has, by the `tools` of its workflow; without them, those that every run has. */
export function runToolNames(tools: readonly string[] | undefined): readonly string[] {
  const known = ["task_update", "comment", handOverTools.message, handOverTools.complete];
  return tools === undefined ? ["task_update", "comment"] : known.filter((name) => tools.includes(name));
}

async function moveBy(move: RunCalls["move"], to: string, wasEdited: boolean): Promise<readonly string[]> {
  try {
    const { kind, from, task, why } = await move(to);
    const said = kind === "moved" ? `${from} → ${task.status}` : kind === "stayed" ? task.status : why;
    return [said, ...(task.held === null ? [] : [`Held for a person: ${task.held.reason}`])];
  } catch (error) {
    if (!(error instanceof Refusal) || !wasEdited) throw error;
    throw new Fault("refused", written(error, "Nothing else has changed."), { cause: error });
  }
}

/** The tools of a person. */
export function personTools(call: Call): readonly Tool[] {
  const named = (input: JsonObject) => ({ params: { task: String(input.task ?? "") }, query: {} });
  const task = { task: "The task: its id, or project#number" };
  const shown = (answer: unknown) => [JSON.stringify(answer, undefined, 1)];
  const reader = (name: string, title: string, read: (task: ReturnType<typeof named>) => Promise<unknown>): Tool => ({
    ...{ name, title, description: `${title}, as JSON.`, inputSchema: form(task, ["task"]) },
    call: safely(async (input) => shown(await read(named(texts(input, ["task"]))))),
  });
  return [
    {
      name: "task_create",
      title: "Create a task",
      description: "Create a task in a project. Its workflow decides what happens with it.",
      inputSchema: form(
        {
          project: "The project's name",
          summary: "What is to be done, in one line",
          context: "What the agents should know",
          workflow: "The workflow's name; without it the project's",
          preset: "A preset of the workflow",
        },
        ["project", "summary"],
      ),
      call: safely(async (input) => {
        const body = texts(input, ["project", "summary", "context", "workflow", "preset"]);
        const { project = "", ...rest } = body;
        const made = await call(routes.createTask, { body: { project, ...rest } as BodyOf<typeof routes.createTask> });
        return shown({ task: made.task, warnings: made.warnings });
      }),
    },
    {
      name: "task_list",
      title: "List tasks",
      description: "List the tasks, the newest first, as JSON. Without a filter, those that are open.",
      inputSchema: form({
        project: "Only of this project",
        status: "Only in this state",
        needs: "true: that need you",
      }),
      call: safely(async (input) => {
        const { needs, ...filter } = texts(input, ["project", "status", "needs"]);
        const query = { ...filter, open: "true" as const, ...(needs === "true" ? { needs: "true" as const } : {}) };
        return shown(await call(routes.listTasks, { query }));
      }),
    },
    reader("task_show", "Show a task", (about) => call(routes.getTask, about)),
    reader("task_explain", "Explain where a task is, what blocks it and what comes next", (about) =>
      call(routes.explainTask, about),
    ),
    reader("task_findings", "Show the findings of a task's reviews", (about) => call(routes.listFindings, about)),
    {
      name: "task_answer",
      title: "Answer a task's question",
      description: "Answer the question that a task asks. task_explain shows it.",
      inputSchema: form({ ...task, text: "The answer", question: "The question's id; without it the present one" }, [
        "task",
        "text",
      ]),
      call: safely(async (input) => {
        const { text = "", question, ...rest } = texts(input, ["task", "text", "question"]);
        const about = named(rest);
        const { questions } = await call(routes.listQuestions, { query: { task: about.params.task } });
        const body = { text, ...(question === undefined ? {} : { question }) };
        const answered =
          questions[0]?.kind === "dialogue"
            ? await call(routes.replyTask, { ...about, body })
            : await call(routes.answerTask, { ...about, body });
        return shown(answered);
      }),
    },
  ];
}

/** Errors become the tool's result, which the agent reads; the protocol's own errors reach only its client. */
export function safely(work: (input: unknown) => Promise<readonly string[]>): Tool["call"] {
  return async (input) => {
    try {
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
  return `Signalbox has a bug: ${error instanceof Error ? error.message : String(error)}`;
}

function form(texts: Readonly<Record<string, string>>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties: formTexts(texts), required, additionalProperties: false };
}

function formTexts(texts: Readonly<Record<string, string>>): JsonSchema {
  const properties = Object.entries(texts).map(([name, description]) => [name, { type: "string", description }]);
  return Object.fromEntries(properties);
}

function texts<Name extends string>(input: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  if (!isJsonObject(input)) throw new Fault("usage", "The arguments must be an object.");
  const wrong = Object.entries(input).filter(
    ([name, value]) => !names.includes(name as Name) || typeof value !== "string",
  );
  if (wrong.length === 0) return input as Partial<Record<Name, string>>;
  const many = wrong.length === 1 ? "1 argument" : `${wrong.length} arguments`;
  throw new Fault("usage", `The tool does not accept ${many}: ${wrong[0]?.[0]}.`, {
    hint: `It takes ${names.join(", ")}, each a string.`,
  });
}

/** The arguments in the form of a route's body. */
function shaped<Body>(wire: Wire<Body> | undefined, input: unknown): Body {
  const problems = wire === undefined ? [] : problemsOf(wire, input, "The arguments");
  if (problems.length === 0) return input as Body;
  throw new Fault("usage", problems.join("\n"), {
    hint: "Nothing has changed. Correct the arguments and call it again.",
  });
}
