interface PluginSettings {
  readonly mode: "session" | "turn";
  /** The command that receives every event of a session. */
  readonly hook: readonly string[];
  /** The pattern of allowed shell commands; undefined if all are allowed. */
  readonly commands: string | undefined;
}

/**
 * The text of a plugin for OpenCode. It refuses shell commands, because OpenCode's own rules can be bypassed; it
 * reports the events of a session; and it ends a turn that OpenCode would retry for hours.
 */
export function pluginText(settings: PluginSettings): string {
  return `const settings = ${JSON.stringify(settings)};\n${body}`;
}

// Plain JavaScript: the runtime inside OpenCode loads it.
const body = `
import { spawn } from "node:child_process";

const mayRun = settings.commands === undefined ? undefined : new RegExp(settings.commands);
const children = new Set();
const prompts = new Set();
const tools = new Map();
let current = "";
let model = "";
let said = "";
let overflows = 0;
let told = Promise.resolve();
let isBusy = false;

function tell(event) {
  if (settings.hook.length === 0) return;
  // Built now: the session may have changed when the queue sends it.
  const line = JSON.stringify({ harness: "opencode", session: current, ...event });
  told = told.then(() => new Promise((resolve) => {
    const [program, ...rest] = settings.hook;
    const child = spawn(program, rest, { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", resolve);
    child.on("close", resolve);
    child.stdin.on("error", () => {});
    child.stdin.end(line);
  }));
}

function print(line) {
  process.stdout.write(JSON.stringify(line) + "\\n");
}

function giveUp(session, error) {
  print({ type: "error", sessionID: session, error });
  setTimeout(() => process.exit(1), 100);
}

const isTurn = settings.mode === "turn";

function learn(type, properties) {
  const session = properties.sessionID ?? "";
  const info = properties.info ?? {};
  if (type === "session.created" && info.parentID) children.add(session);
  if (type === "message.updated" && info.role === "user") prompts.add(info.id);
  if (type === "message.updated" && info.role === "assistant" && info.modelID) {
    const named = info.providerID + "/" + info.modelID;
    if (isTurn && named !== model) print({ type: "model", sessionID: session, model: named });
    model = named;
  }
  if (type === "message.part.updated") return learnPart(session, properties.part ?? {});
  if (children.has(session)) return;
  if (type === "session.status") return learnStatus(session, properties.status ?? {});
  if (type === "session.error") return learnError(session, properties.error ?? {});
  if (isTurn) return;
  if (type === "session.idle") return tell({ event: "idle", said });
  if (type === "permission.asked") return tell({ event: "asks", about: [properties.permission, ...(properties.patterns ?? [])].join(" ") });
  if (type === "question.asked") return tell({ event: "asks", about: properties.questions?.[0]?.question ?? "a question" });
  if (type === "permission.replied" || type === "question.replied" || type === "question.rejected") return tell({ event: "busy", what: "" });
}

function learnStatus(session, status) {
  if (status.type === "retry" && isTurn) {
    const isLong = status.attempt >= 3 || (status.next ?? 0) - Date.now() > 60000;
    if (isLong) giveUp(session, { name: "RetryLimit", data: { message: status.message, next: status.next } });
    return;
  }
  if (isTurn) return;
  if (status.type === "retry") return tell({ event: "retry", message: status.message, next: status.next });
  if (status.type === "busy" && !isBusy) tell({ event: "busy", what: "" });
  isBusy = status.type === "busy";
}

function learnError(session, error) {
  // OpenCode shortens the conversation and retries, for ever if that does not help.
  if (isTurn && error.name === "ContextOverflowError" && ++overflows >= 3) return giveUp(session, error);
  if (!isTurn && error.name !== "MessageAbortedError") tell({ event: "failed", error });
}

function learnPart(session, part) {
  const isChild = children.has(session);
  if (part.type === "step-finish" && (!isTurn || isChild)) {
    if (isTurn) print({ type: "child_finish", sessionID: session, part });
    else tell({ event: "usage", model, tokens: part.tokens, cost: part.cost });
  }
  if (isTurn || isChild) return;
  if (part.type === "text" && part.time?.end && !part.synthetic && !prompts.has(part.messageID)) {
    said = part.text;
    tell({ event: "said", text: part.text });
  }
  if (part.type !== "tool") return;
  const state = part.state?.status;
  const now = state === "running" ? "began" : state === "completed" || state === "error" ? "ended" : undefined;
  if (now === undefined || tools.get(part.callID) === now) return;
  tools.set(part.callID, now);
  tell({ event: "tool", name: part.tool, state: now });
}

export const Signalbox = async () => ({
  event: async ({ event }) => learn(event.type, event.properties ?? {}),
  "chat.message": async (input, output) => {
    if (isTurn || children.has(input.sessionID)) return;
    if (input.sessionID !== current) {
      current = input.sessionID;
      tell({ event: "session" });
    }
    said = "";
    const text = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\\n");
    tell({ event: "prompted", text });
  },
  "tool.execute.before": async (input, output) => {
    if (input.tool !== "bash" || mayRun === undefined || mayRun.test(String(output.args.command))) return;
    throw new Error("This command is not allowed. You may run commands that only read, read-only git, the test command and the task's command line.");
  },
});
`;
