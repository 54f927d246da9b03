/** Takes out what must not be read by whoever gets to see a log. Rather a word too many than a secret. */
export function redact(text: string): string {
  if (!suspicious.test(text)) return text;
  return replacements.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);
}

/** Whether a field of this name holds a secret. Plurals count something: `tokens`. */
export function isSecretKey(key: string): boolean {
  return secretKey.test(key);
}

// Every pattern below needs one of these, and most text has none.
const suspicious = /[=:_-]|AKIA/;

const names = /token|secret|password|passwd|passphrase|api[_-]?key|(?:access|private)[_-]?key|authorization/.source;

const secretKey = new RegExp(`(?:${names})$`, "i");

/**
 * No pattern begins with something that may be long, and none looks far ahead: the time must grow with the text alone, as
 * agents write what is read here. A quote may stand behind backslashes, since JSON is often text inside JSON.
 */
const replacements: readonly (readonly [RegExp, string])[] = [
  // "key": "value", up to the same quote or the end of the line
  [
    new RegExp(`((?:${names})(?:\\\\*["'])\\s*:\\s*)(\\\\*["'])(?!\\2)[^\\n]*?((?<!\\\\)\\2|(?=\\n)|$)`, "gi"),
    "$1$2…$3",
  ],
  // key="value", then key=value
  [new RegExp(`((?:${names})=)(\\\\*["'])(?!\\2)[^\\n]*?((?<!\\\\)\\2|(?=\\n)|$)`, "gi"), "$1$2…$3"],
  [new RegExp(`((?:${names})=)(?![=>])(?:\\\\(?!["'])|[^\\s&"'\\\\])+`, "gi"), "$1…"],
  [/(authorization:[ \t]*)(?:bearer|basic|token)[ \t]+[^\s"',;\\]+/gi, "$1…"],
  [/(authorization:[ \t]*)(?=[^\s\d]{0,100}\d)[^\s"',;\\]{8,}/gi, "$1…"],
  // https://user:password@host, https://token@host; but ssh://git@host names no secret
  [/(https?:\/\/)[^\s/?#"'<>\\]+@/gi, "$1…@"],
  [/(:\/\/)[^\s/?#"'<>\\:@]*:[^\s/?#"'<>\\]*@/g, "$1…@"],
  [/(sb[hr]_)[0-9a-f]{8,}/g, "$1…"],
  [/(?<![A-Za-z0-9])(sk-)(?=[\w-]{0,100}\d)[\w-]{8,}/g, "$1…"],
  [/(gh[pousr]_|github_pat_|glpat-|xox[a-z]-)[\w-]{8,}/g, "$1…"],
  [/(?<![A-Za-z0-9])(AKIA)[0-9A-Z]{12,}/g, "$1…"],
];
