import type { Files } from "../list-changes.ts";

/** Both folders are named, whatever the files in between say: somebody may have changed them. */
export function worktreeFiles(folder: string, gitDir: string, commonFolder: string): Files {
  return {
    place: { folder, gitDir, workTree: folder, configuration: "user" },
    env: { GIT_COMMON_DIR: commonFolder },
    settings: ["core.splitIndex=false"],
    ownObjects: {},
  };
}
