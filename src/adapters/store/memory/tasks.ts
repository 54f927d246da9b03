import type { Task } from "../../../engine/task.ts";
import type { Store, StoredDocument } from "../../../ports/store.ts";
import { branchTaken, conflict, projectMissing, taskExists } from "../faults.ts";
import { retryFailed } from "./effects.ts";
import { toStoredTask } from "./lists.ts";
import { snapshot } from "./snapshot.ts";
import {
  isOpen as isOpenEffect,
  keep,
  mustHaveTask,
  prepare,
  type Run,
  removeTasks,
  type Tables,
  type TaskRow,
} from "./tables.ts";

type Tasks = Pick<Store, "createTask" | "saveDecision" | "saveDocument" | "getDocument" | "deleteTask">;

export function createTasks(tables: Tables, read: Run, write: Run): Tasks {
  const { tasks, projects } = tables;
  const claimBranch = ({ id, branch }: Task, project: string) => {
    if (branch === "") return;
    for (const row of tasks.values()) {
      const isSame = row.isOpen && row.branch === branch && row.project === project && row.id !== id;
      if (isSame) throw branchTaken(branch, row.id);
    }
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        const home = projects.get(project);
        if (home === undefined) throw projectMissing(project);
        const { task, document, events, effects, at } = decide(home.lastNumber + 1);
        if (tasks.has(task.id)) throw taskExists(task.id);
        claimBranch(task, project);
        const { id, number, branch, status, parent } = task;
        const row: TaskRow = {
          ...{ id, project, number, branch, status, parent, isOpen: true, revision: 1, data: snapshot(task) },
          ...{ order: tables.last.task + 1, createdAt: at, updatedAt: at, effects: [], artifacts: [] },
          document: snapshot(document),
        };
        const happened = prepare(tables, row, { revision: 1, entry: task.entry, at, events, effects });
        home.lastNumber++;
        tables.last.task++;
        tasks.set(id, row);
        keep(tables, row, happened);
        return toStoredTask(row);
      }),
    saveDecision: ({
      task,
      revision,
      isOpen,
      events,
      effects,
      at,
      document,
      artifacts = [],
      dropsOwed,
      retriesFailed,
    }) =>
      write(() => {
        const row = mustHaveTask(tables, task.id);
        if (row.revision !== revision) throw conflict(task.id, revision, row.revision);
        const { branch, status, parent } = task;
        if (isOpen && (row.branch !== branch || !row.isOpen)) claimBranch(task, row.project);
        const happened = prepare(tables, row, { revision: revision + 1, entry: task.entry, at, events, effects });
        const evidence = artifacts.map((each) => [mustHaveTask(tables, each.task), JSON.stringify(each)] as const);
        const texts = {
          data: snapshot(task),
          document: document === undefined ? row.document : snapshot(document),
        };
        Object.assign(row, { branch, status, parent, isOpen, revision: revision + 1, updatedAt: at, ...texts });
        if (dropsOwed) for (const effect of row.effects.filter(isOpenEffect)) effect.state = "dropped";
        if (retriesFailed) retryFailed(row, at);
        for (const [owner, text] of evidence) owner.artifacts.push(text);
        keep(tables, row, happened);
        return toStoredTask(row);
      }),
    saveDocument: (id, document, events, at) =>
      write(() => {
        const row = mustHaveTask(tables, id);
        const happened = prepare(tables, row, { revision: row.revision, at, events });
        row.document = snapshot(document);
        keep(tables, row, happened);
      }),
    getDocument: (id) =>
      read((): StoredDocument => {
        const row = tasks.get(id);
        return row === undefined ? { text: "", authors: {} } : row.document.read();
      }),
    deleteTask: (id) => write(() => removeTasks(tables, [mustHaveTask(tables, id)])),
  };
}
