/** Takes passwords out of addresses. ssh://git@host names no secret; everything else before an @ may be one. */
export function masked(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s/?#"'<>]*@/gi, "$1…@")
    .replace(/(:\/\/[^\s/?#"'<>:@]*:)[^\s/?#"'<>]*@/g, "$1…@");
}
