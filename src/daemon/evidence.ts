import { hash as hashed } from "node:crypto";
import type { TaskEvent } from "../engine/decision.ts";
import type { Facts } from "../engine/request.ts";
import type { Artifact, StoredDocument } from "../ports/store.ts";

/** The sections that let a task pass, as they were: whoever asks later why it moved finds what it moved on. */
export function evidenceOf(
  task: string,
  events: readonly TaskEvent[],
  facts: Facts,
  authors: StoredDocument["authors"],
  at: number,
): readonly Artifact[] {
  return events.flatMap(({ data }) => {
    if (!Array.isArray(data.evidence)) return [];
    return data.evidence.flatMap((heading: string) => {
      const section = facts.document.byHeading.get(heading);
      if (section === undefined) return [];
      const { role = "", run = "" } = (Object.hasOwn(authors, heading) ? authors[heading] : undefined) ?? {};
      const hash = hashed("sha256", section.body);
      return [{ task, section: heading, text: section.body, hash, role, run, commit: facts.head, at }];
    });
  });
}

/** History says which content it was, and which run asked. */
export function withEvidence(
  events: readonly TaskEvent[],
  artifacts: readonly Artifact[],
  run: string | undefined,
): readonly TaskEvent[] {
  if (artifacts.length === 0 && run === undefined) return events;
  const evidence = artifacts.map(({ section, hash, role, run, commit }) => ({ section, hash, role, run, commit }));
  return events.map((event, index) => {
    const data = {
      ...event.data,
      ...(run !== undefined && index === 0 ? { run } : {}),
      ...(Array.isArray(event.data.evidence) ? { evidence } : {}),
    };
    return { ...event, data } as TaskEvent;
  });
}
