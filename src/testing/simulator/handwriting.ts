/** Who really wrote a section: every simulated agent leaves this in what it writes, also in what it forges. */
export interface Handwriting {
  readonly task: string;
  readonly role: string;
  readonly run: string;
}

export function sign({ task, role, run }: Handwriting, number: number): string {
  return `(${number} by ${role} of ${task} in ${run})`;
}

export function authorOf(text: string): Handwriting | undefined {
  const [, role, task, run] = /\(\d+ by (\S+) of (\S+) in ([^)\s]+)\)/.exec(text) ?? [];
  return role === undefined || task === undefined || run === undefined ? undefined : { task, role, run };
}
