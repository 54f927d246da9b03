import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Routes } from "../../api/routes.ts";
import type { ListedWorkflow, WorkflowProof, WorkflowView } from "../../api/workflows.ts";
import { loadWorkflow } from "../../engine/language/load.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { isTrusted } from "../../home/trust.ts";
import {
  childNames,
  describedAs,
  type Found,
  findChild,
  findWorkflow,
  isPath,
  type Lookup,
  listWorkflows as listFound,
} from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { allTasks, mustHave } from "../project.ts";
import { graphOf } from "../workflow-graph.ts";
import { createWorkflowProofs, type ProofOrder, type WorkflowProofs } from "../workflow-proofs.ts";

/** A workflow is a page or two. A larger file is not one. */
const maxBytes = 1024 * 1024;

export function listWorkflows(core: Core): Handler<Routes["listWorkflows"]> {
  return async ({ query }) => {
    const projects =
      query.project === undefined ? await core.store.listProjects() : [await mustHave(core, query.project)];
    const found = [
      ...listFound({ home: core.home }).map((each) => ({ ...each, project: "" })),
      ...projects.flatMap(({ name, path }) =>
        listFound({ home: core.home, repository: path })
          .filter(({ from }) => from === "project")
          .map((each) => ({ ...each, project: name })),
      ),
    ];
    const filter = { isOpen: true, ...(query.project === undefined ? {} : { project: query.project }) };
    const open = Map.groupBy(await allTasks(core.store, filter), ({ task }) => task.workflow);
    const workflows = await Promise.all(found.map((each) => listed(core, each, found, open)));
    // A workflow of another project has the name only.
    const isKnown = (task: Task) =>
      found.some(({ name, project }) => name === task.workflow && (project === "" || project === task.project));
    const gone = [...open].flatMap(([name, tasks]) => {
      const left = tasks.filter(({ task }) => !isKnown(task));
      return left.length === 0 ? [] : [goneRow(name, left)];
    });
    return { workflows: [...workflows, ...gone] };
  };
}

type Listable = Found & { readonly project: string };
type OpenTasks = Awaited<ReturnType<typeof allTasks>>;

async function listed(
  core: Core,
  { name, from, file, project }: Listable,
  all: readonly Listable[],
  open: ReadonlyMap<string, OpenTasks>,
): Promise<ListedWorkflow> {
  const hash = await readText(file).then(hashOf, () => "");
  // A project's own workflow hides one of the same name.
  const isHidden = (of: string) => all.some((each) => each.name === name && each.project === of);
  const tasks = (open.get(name) ?? []).filter(({ task }) =>
    project === "" ? !isHidden(task.project) : task.project === project,
  );
  return {
    ...{ name, project, file, hash, from: from === "file" ? "user" : from, openTasks: tasks.length },
    otherText: tasks.filter(({ task }) => task.workflowHash !== hash).length,
    trusted: from !== "project" || isTrusted(core.places, hash),
  };
}

function goneRow(name: string, tasks: OpenTasks): ListedWorkflow {
  const hash = tasks[0]?.task.workflowHash ?? "";
  const otherText = tasks.filter(({ task }) => task.workflowHash !== hash).length;
  return { name, from: "gone", project: "", file: "", hash, openTasks: tasks.length, otherText, trusted: true };
}

export function getWorkflow(core: Core): Handler<Routes["getWorkflow"]> {
  const proofs = createWorkflowProofs();
  return async ({ params, query }) => {
    const name = params.workflow ?? "";
    const project = query.project === undefined ? undefined : await mustHave(core, query.project);
    const lookup: Lookup = { home: core.home, repository: project?.path };
    if (query.hash !== undefined) return pinned(core, proofs, lookup, name, query.hash);
    // Files that have no name here could be any file of the machine.
    if (isPath(name)) throw missing(name);
    const found = findWorkflow(lookup, name);
    const text = await readText(found.file);
    const hash = hashOf(text);
    const about = { name, from: found.from === "file" ? "user" : found.from, file: found.file, hash, text } as const;
    if (found.from === "project" && !isTrusted(core.places, hash)) {
      const trust = `signalbox trust ${shellWord(name)} --project ${shellWord(project?.name ?? "")}`;
      return { ...about, ...unloaded, trusted: false, trust };
    }
    return { ...about, ...(await look(core, proofs, lookup, found, text)) };
  };
}

/** The text that tasks are pinned to, whatever became of its file. */
async function pinned(
  core: Core,
  proofs: WorkflowProofs,
  lookup: Lookup,
  name: string,
  hash: string,
): Promise<WorkflowView> {
  const stored = await core.store.getWorkflow(hash);
  if (stored === undefined) throw missing(name);
  const found = { name, from: "built-in", file: "", shown: stored.name } as const;
  const about = { name, from: "gone", file: "", hash, text: stored.text } as const;
  return { ...about, ...(await look(core, proofs, lookup, found, stored.text)) };
}

const unloaded = {
  ...{ description: "", problems: [], graph: null },
  proof: { state: "none", reason: "", result: null },
} satisfies Partial<WorkflowView>;

async function look(core: Core, proofs: WorkflowProofs, lookup: Lookup, found: Found, text: string) {
  const names = childNames(lookup, found);
  const { workflow, problems } = loadWorkflow(text, found.shown, names);
  const shown = problems.map(({ level, line, column, message, fix }) => ({ level, line, column, message, fix }));
  const loaded = { ...unloaded, problems: shown, trusted: true, trust: "" };
  if (workflow === undefined) return loaded;
  const children = await childTexts(core, lookup, found, workflow);
  const order: ProofOrder = { name: found.name, file: found.shown, text, names, children };
  const proof: WorkflowProof = proofs.of(order);
  // A stored text has no file, and may have been somebody's own workflow of that name.
  const description = found.file === "" ? workflow.description : describedAs(found, workflow.description);
  return { ...loaded, description, graph: graphOf(workflow), proof };
}

/** The texts of the workflows that a workflow's children have, and theirs. One that cannot be read, or may not run, is left out. */
async function childTexts(
  core: Core,
  lookup: Lookup,
  found: Found,
  workflow: Workflow,
): Promise<ProofOrder["children"]> {
  const texts = new Map<string, string>();
  const seen = new Set([found.name]);
  const open = [workflow];
  for (const each of open) {
    for (const { wait } of Object.values(each.states)) {
      if (wait.kind !== "fan_out" || seen.has(wait.workflow)) continue;
      seen.add(wait.workflow);
      const child = findChild(lookup, found, wait.workflow);
      const text = child && (await readText(child.file).catch(() => undefined));
      // A repository's file is not parsed before a person has trusted it.
      if (text === undefined || (child?.from === "project" && !isTrusted(core.places, hashOf(text)))) continue;
      texts.set(wait.workflow, text);
      const { workflow: loaded } = loadWorkflow(text, wait.workflow);
      if (loaded !== undefined) open.push(loaded);
    }
  }
  return [...texts].map(([name, text]) => ({ name, text }));
}

async function readText(file: string): Promise<string> {
  const { size } = await stat(file).catch((error) => {
    throw new Fault("workflow.missing", `The file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  });
  if (size > maxBytes)
    throw new Fault("workflow.invalid", `${file} has ${size} bytes, and a workflow at most ${maxBytes}.`);
  return readFile(file, "utf8");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function missing(name: string): Fault {
  return new Fault("workflow.missing", `There is no workflow ${JSON.stringify(name)}.`, {
    hint: "List them: signalbox workflow list",
  });
}
