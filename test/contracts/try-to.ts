/** Tries a change: some stores return frozen objects, some do not. */
export function tryTo(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
