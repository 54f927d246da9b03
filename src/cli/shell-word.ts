/** A word that can be pasted into a shell. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
