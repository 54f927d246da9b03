import { Fault } from "../../fault.ts";
import type { Git, Obeyed } from "../../ports/git.ts";
import type { Project, Store } from "../../ports/store.ts";

/**
 * Refuses where the repository makes git obey something else than when a person last looked: an agent can write there.
 * A project that was never looked at is taken as it is now.
 */
export async function checkObeyed(store: Store, git: Git, name: string): Promise<void> {
  const project = await store.getProject(name);
  if (project === undefined) return;
  const now = await git.obeyed(project.path);
  if (project.obeyed === undefined) await store.updateProject(name, { obeyed: now });
  else if (project.obeyed.fingerprint !== now.fingerprint) throw changed(project, project.obeyed, now);
}

/** What a person does about it. */
export function trustProjectCommand(project: string): string {
  return `signalbox project trust ${project}`;
}

export interface ObeyedChange {
  /** A setting of git's, or a file below `.git`. */
  readonly name: string;
  readonly change: "added" | "changed" | "removed";
}

export function obeyedChanges(before: Obeyed, now: Obeyed): readonly ObeyedChange[] {
  const names = [...new Set([...Object.keys(before.parts), ...Object.keys(now.parts)])].sort();
  return names.flatMap((name): readonly ObeyedChange[] => {
    const [old, present] = [before.parts[name], now.parts[name]];
    if (old === present) return [];
    return [{ name, change: old === undefined ? "added" : present === undefined ? "removed" : "changed" }];
  });
}

function changed({ name, path }: Project, before: Obeyed, now: Obeyed): Fault {
  const all = obeyedChanges(before, now).map((each) => each.name);
  const shown = all.length <= mostShown ? all.join(", ") : `${all.slice(0, mostShown).join(", ")} and more`;
  return new Fault(
    "project.changed",
    `The configuration, hooks or attributes of ${path} have changed since you last looked: ${shown}.`,
    { hint: `If that was you, or is all right: ${trustProjectCommand(name)}` },
  );
}

const mostShown = 5;
