import type { Person } from "../../../ports/git-names.ts";
import type { RunGit } from "../git-runner.ts";

export async function identityOf(run: RunGit, repository: string): Promise<Person> {
  const { stdout } = await run({ folder: repository, configuration: "user" }, ["var", "GIT_AUTHOR_IDENT"], {
    // What git would make up from the names of user and machine is nobody.
    settings: ["user.useConfigOnly=true"],
  });
  const [, name = "", email = ""] = /^(.*) <(.*)> \d+ [+-]\d+$/m.exec(stdout.toString("utf8")) ?? [];
  return { name, email };
}
