import type { Repository, Stage } from "../git/stage.ts";

/** A user's repository with what canaries need: conflicting branches, and a submodule. */
export function repositoryWithBranches(stage: Stage): Repository {
  const user = stage.repository();
  const inner = stage.repository("inner");
  user.git("submodule", "--quiet", "add", inner.folder, "module");
  user.commit({}, "module");
  user.git("branch", "base");
  user.git("checkout", "--quiet", "-b", "rival");
  user.commit({ "a.txt": "rival\n" });
  user.git("checkout", "--quiet", "-b", "aside", "base");
  user.commit({ "b.txt": "aside\n" });
  user.git("checkout", "--quiet", "main");
  return user;
}
