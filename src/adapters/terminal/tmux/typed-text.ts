/**
 * A text as it may be put into a program's input. An escape character could end the paste, and what follows it would be
 * taken for keys: of the control characters only line ends and tabs are left.
 */
export function typedText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
}
