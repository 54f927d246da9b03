import type { RunGit } from "../git-runner.ts";

export async function remoteUrl(
  run: RunGit,
  repository: string,
  remote: string,
  way: "push" | "fetch",
): Promise<string | undefined> {
  const place = { folder: repository, configuration: "user" } as const;
  // 2: there is no such remote.
  const { code, stdout } = await run(
    place,
    ["remote", "get-url", ...(way === "push" ? ["--push"] : []), "--end-of-options", remote],
    {
      accepts: [0, 2],
    },
  );
  return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
}
