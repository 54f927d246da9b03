import { Fault } from "../../fault.ts";
import type { Git } from "../../ports/git.ts";
import type { Person } from "../../ports/git-names.ts";

/** Who commits what the engine commits: whoever commits in the project's repository, or ourselves where nobody says. */
export async function identityOf(git: Git, repository: string): Promise<Person> {
  try {
    return await git.identityOf(repository);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "git.no-identity") throw error;
    return { name: "Signalbox", email: "signalbox@localhost" };
  }
}
