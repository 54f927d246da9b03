/** What fields of requests are called on the command line, where that is not the field's own name as a flag. */
const words: Readonly<Record<string, string>> = {
  agent: "NAME",
  branch: "BRANCH",
  count: "COUNT",
  dependsOn: "--depends-on",
  giveBack: "--no-give-back",
  labels: "--label",
  name: "The name",
  path: "The path",
  pullRequest: "--pr",
  ref: "REF",
  settings: "--set",
  summary: "SUMMARY",
  task: "TASK",
  text: "TEXT",
  to: "--status",
};

/** What the daemon has against a request, in the words of the command line: it knows fields, a person flags. */
export function inFlagWords(message: string): string {
  return message.replace(/^The (?:body|query)\.(\w+)(\S*)/gm, (_, field: string) => {
    const known = Object.hasOwn(words, field) ? words[field] : undefined;
    return known ?? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  });
}
