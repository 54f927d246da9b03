import { afterEach, beforeEach } from "vitest";
import { createGithubClient } from "../../src/adapters/github/client.ts";
import { githubForge } from "../../src/adapters/github/github.ts";
import { httpTransport } from "../../src/adapters/github/transport.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { failing } from "./contract/failing.ts";
import { merging } from "./contract/merging.ts";
import { opening } from "./contract/opening.ts";
import { standing } from "./contract/standing.ts";
import { talking } from "./contract/talking.ts";
import type { Stage } from "./stage.ts";

const token = "ghp_verysecretindeed0123456789";
const noon = Date.UTC(2026, 6, 1, 12);

let current: Stage;
beforeEach(async () => {
  const github = await startScriptedGithub({ token });
  let now = noon;
  const forgeOf = (repository: string, timeout: number) =>
    githubForge({
      repository: { host: "github.com", owner: "acme", name: repository },
      client: createGithubClient(httpTransport({ apiUrl: github.url, token, timeout }), () => now),
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

for (const part of [opening, standing, talking, merging, failing]) part({ token, stage: () => current });
