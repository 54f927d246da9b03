import { frontmatterValues, readYamlList, readYamlScalar, yamlScalar } from "../documents/frontmatter.ts";
import { bodyOf, type TaskDocument } from "../documents/task-document.ts";
import { blankIdentity, type TaskIdentity, type TaskPosition } from "./task.ts";

/** What the frontmatter says about a task. The store is the truth; this is for readers of the file. */
type FrontmatterFields = Omit<
  TaskIdentity,
  "number" | "base" | "model" | "ticket" | "part" | "handDown" | "budget" | "autostart"
> & {
  readonly status: string;
  readonly reviewRound: number;
  readonly crashCount: number;
};

/** The fields of a task that the frontmatter is rendered from. */
export type FrontmatterTask = TaskIdentity & Pick<TaskPosition, "status" | "counters" | "crashCount">;

/** Reads what a document says about its task. Missing and unreadable fields take their defaults. */
export function readFrontmatter(document: TaskDocument): FrontmatterFields {
  const fields: Record<string, FieldValue> = { ...defaults };
  const values = frontmatterValues(document.frontmatter);
  for (const [key, field] of entries) {
    const value = readValue(values[key], defaults[field]);
    if (value !== undefined && value !== "") fields[field] = value;
  }
  return fields as unknown as FrontmatterFields;
}

/** The lines between the two `---`. */
export function frontmatterLines(task: FrontmatterTask): readonly string[] {
  const fields = fieldsOf(task);
  return entries.map(([key, field]) => `${key}: ${writeValue(fields[field])}`);
}

/** The keys that differ from the task, are missing, or are unknown. */
export function tamperedFields(document: TaskDocument, task: FrontmatterTask): readonly string[] {
  const fields = fieldsOf(task);
  const values = frontmatterValues(document.frontmatter);
  const changed = entries.filter(([key, field]) => {
    const value = readValue(values[key], fields[field]);
    return value === undefined || writeValue(value) !== writeValue(fields[field]);
  });
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(fieldOfKey, key));
  return [...changed.map(([key]) => key), ...unknown];
}

/** In the order of the file. */
const fieldOfKey = {
  id: "id",
  project: "project",
  branch: "branch",
  summary: "summary",
  workflow: "workflow",
  status: "status",
  harness: "harness",
  review_harness: "reviewHarness",
  review_round: "reviewRound",
  crash_count: "crashCount",
  workspace: "workspace",
  tmux_session: "tmuxSession",
  pr_url: "prUrl",
  parent: "parent",
  depends_on: "dependsOn",
  labels: "labels",
  priority: "priority",
  created_at: "createdAt",
  updated_at: "updatedAt",
} as const satisfies Readonly<Record<string, keyof FrontmatterFields>>;

const entries: readonly (readonly [string, keyof FrontmatterFields])[] = Object.entries(fieldOfKey);

const { number: _, base: __, model: ___, ticket: ____, autostart: _____, ...identity } = blankIdentity;
const defaults: FrontmatterFields = { ...identity, workflow: "default", status: "", reviewRound: 0, crashCount: 0 };

type FieldValue = string | number | readonly string[];

function fieldsOf(task: FrontmatterTask): FrontmatterFields {
  return { ...task, reviewRound: task.counters.review_round ?? 0 };
}

function writeValue(value: FieldValue): string {
  if (typeof value === "string") return yamlScalar(value);
  if (typeof value === "number") return String(value);
  return `[${value.map((item) => yamlScalar(item, "list")).join(", ")}]`;
}

/** Reads a value of the same type as `like`; undefined where there is none. */
function readValue(raw: string | undefined, like: FieldValue): FieldValue | undefined {
  if (raw === undefined) return undefined;
  if (typeof like === "string") return readYamlScalar(raw);
  if (typeof like !== "number") return readYamlList(raw);
  const text = readYamlScalar(raw);
  const value = Number(text);
  return text === "" || !Number.isFinite(value) ? undefined : value;
}

/** Writes TASK.md: the frontmatter from the task, whatever the document had; the body unchanged. */
export function renderTaskDocument(task: FrontmatterTask, document: TaskDocument): string {
  const lines = ["---", ...frontmatterLines(task), "---", ""];
  return lines.join(document.eol) + bodyOf(document);
}
