/** When what failed may work again, where that is known; milliseconds since 1970. */
export function retryAtOf(error: unknown): number | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const at = typeof cause === "object" && cause !== null && "retryAt" in cause ? cause.retryAt : undefined;
  return typeof at === "number" ? at : undefined;
}
