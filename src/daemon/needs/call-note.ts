import { briefNeed } from "../../engine/needs.ts";
import type { Task } from "../../engine/task.ts";
import type { Note } from "../../ports/notifier.ts";
import type { CallRecord } from "../../ports/records.ts";

export interface Called {
  readonly task: Task;
  readonly call: CallRecord;
}

/** More would not be read. */
const mostLines = 8;

/** What the person is told: one task in need of them, or several at once. Each task is named once, with its first need. */
export function callNote(called: readonly Called[], key: string): Note {
  const tasks = [...new Map([...called].reverse().map((each) => [each.task.id, each])).values()].reverse();
  const [first] = tasks;
  const needs = tasks.map(({ task, call }) => ({
    ...{ task: task.id, name: nameOf(task), summary: task.summary },
    ...{ reason: call.reason, text: briefNeed(call), command: call.command },
  }));
  if (first !== undefined && tasks.length === 1) {
    const { task, call } = first;
    const text = [briefNeed(call), call.command].filter(Boolean).join(" → ");
    const title = `${nameOf(task)} needs you: ${task.summary}`.replace(/: $/, "");
    return { title, text, task: task.id, project: task.project, key, needs };
  }
  const causes = new Set(needs.map(({ text }) => text));
  const shown = tasks.slice(0, mostLines).map(({ task, call }) => `${nameOf(task)}: ${briefNeed(call)}`);
  const more = tasks.length > mostLines ? [`and ${tasks.length - mostLines} more`] : [];
  const [cause = ""] = causes;
  const names = tasks.slice(0, mostLines).map(({ task }) => nameOf(task));
  const what = causes.size === 1 ? `${cause} (${[...names, ...more].join(", ")})` : [...shown, ...more].join("; ");
  const projects = new Set(tasks.map(({ task }) => task.project));
  return {
    title: `${tasks.length} tasks need you`,
    text: `${what} → signalbox task list --needs-me --all`,
    task: "",
    project: projects.size === 1 ? (first?.task.project ?? "") : "",
    key,
    needs,
  };
}

function nameOf({ project, number }: Task): string {
  return `${project}#${number}`;
}
