import type { Person } from "../../../ports/git-names.ts";
import type { ControlGit } from "./control-git.ts";

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  /** Milliseconds since 1970. */
  readonly date: number;
}

/** Nothing of the moment goes into it, so that the same commit has the same id whenever it is made. */
export async function commitTree(control: ControlGit, commit: NewCommit): Promise<string> {
  const { tree, parents, message, author, date } = commit;
  const time = `@${Math.floor(date / 1000)} +0000`;
  const { name, email } = { name: oneLine(author.name), email: oneLine(author.email) };
  const { stdout } = await control.git(
    [
      "commit-tree",
      "--no-gpg-sign",
      ...parents.flatMap((parent) => ["-p", parent]),
      "-F",
      "-",
      "--end-of-options",
      tree,
    ],
    {
      input: Buffer.from(message.replaceAll("\0", "")),
      writes: true,
      env: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: time,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_DATE: time,
      },
    },
  );
  return stdout.toString("latin1").trim();
}

/** Whether git takes a name as it is: it cuts off what it does not like at both ends, and leaves brackets out. */
export function isPlain({ name, email }: Person): boolean {
  return [name, email].every((text) => {
    const line = oneLine(text);
    return line !== "" && !/^[.,:;"\\']|[<>]|[.,:;"\\']$/.test(line);
  });
}

/** What `commitTree` makes of it, where the names are plain. */
export function commitText({ tree, parents, message, author, date }: NewCommit): string {
  const who = `${oneLine(author.name)} <${oneLine(author.email)}> ${Math.floor(date / 1000)} +0000`;
  return [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who}`,
    `committer ${who}`,
    "",
    message.replaceAll("\0", ""),
  ].join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim();
}
