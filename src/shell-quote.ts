/** A command line for a POSIX shell, for programs that accept only a shell command. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map(shellWord).join(" ");
}

/** One quoted word, for people to paste and for scripts. A tilde is quoted too: the shell would expand it. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
