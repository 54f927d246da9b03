import type { RunGit } from "../git-runner.ts";

export async function remoteUrl(run: RunGit, repository: string, remote: string): Promise<string | undefined> {
  const place = { folder: repository, configuration: "user" } as const;
  // 2: there is no such remote.
  const { code, stdout } = await run(place, ["remote", "get-url", "--push", "--end-of-options", remote], {
    accepts: [0, 2],
  });
  return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
}
