/** A command line for a POSIX shell, for programs that take nothing else. */
export function shellQuote(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
