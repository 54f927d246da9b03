/** Some stores give what cannot be changed, and some what can. */
export function tryTo(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
