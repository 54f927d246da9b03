/** Without a module of its own to load: supervisors are many, and should be small. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
