/** What people write for a task besides its id: `coffee#12`, or `#12` where the project is known. */
export function readReference(reference: string, project: string): { project: string; number: number } | undefined {
  const [, named = "", number = ""] = /^(.*)#(\d+)$/.exec(reference) ?? [];
  return number === "" ? undefined : { project: named === "" ? project : named, number: Number(number) };
}
