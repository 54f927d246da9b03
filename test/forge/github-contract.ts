import { afterEach, beforeEach, describe } from "vitest";
import { createGithubClient } from "../../src/adapters/forge/github/client.ts";
import { githubForge } from "../../src/adapters/forge/github/github-forge.ts";
import type { GithubTransport } from "../../src/adapters/forge/github/transport.ts";
import { startScriptedGithub } from "../../src/testing/scripted-github.ts";
import { failing } from "./contract/failing.ts";
import { merging } from "./contract/merging.ts";
import { opening } from "./contract/opening.ts";
import { standing } from "./contract/standing.ts";
import { talking } from "./contract/talking.ts";
import type { Stage } from "./stage.ts";

export const token = "ghp_verysecretindeed0123456789";

const noon = Date.UTC(2026, 6, 1, 12);

export interface Way {
  readonly name: string;
  readonly isBrief: boolean;
  open(url: string, timeout: number): GithubTransport;
}

/** Every way to GitHub passes this. */
export function githubContract({ name, isBrief, open }: Way): void {
  describe(`GitHub over ${name}`, () => {
    let current: Stage;
    beforeEach(async () => {
      const github = await startScriptedGithub({ token });
      let now = noon;
      const forgeOf = (repository: string, timeout: number) =>
        githubForge({
          repository: { host: "github.com", owner: "acme", name: repository },
          client: createGithubClient(open(github.url, timeout), () => now),
        });
      const forges = {
        forge: forgeOf("coffee", 30_000),
        impatient: forgeOf("coffee", 200),
        renamed: forgeOf("old-name", 30_000),
      };
      const pass = (milliseconds: number) => {
        now += milliseconds;
      };
      current = { github, ...forges, pass, now };
    });
    afterEach(() => current.github.close());

    const cases = <T>(all: readonly T[]) => (isBrief ? all.slice(0, 1) : all);
    const contract = { token, isBrief, cases, stage: () => current };
    for (const part of [opening, standing, talking, merging, failing]) part(contract);
  });
}
