import type { Forge, PullRequest } from "../../src/ports/forge.ts";
import type { ScriptedGithub } from "../scripted-github/server.ts";

/** A forge with the scripted GitHub behind it. */
export interface Stage {
  readonly github: ScriptedGithub;
  readonly forge: Forge;
  /** The same, with a short timeout. */
  readonly impatient: Forge;
  /** The same repository, by the name it had before. */
  readonly renamed: Forge;
  /** Advances the forge's clock. */
  pass(milliseconds: number): void;
  readonly now: number;
}

export const wanted = {
  head: "agent/a-7",
  base: "main",
  title: "Brew better",
  body: "It is schön.",
  draft: false,
};

/** A pull request of the branch "agent/a-7", which is at c1. The record of requests is cleared afterwards. */
export async function opened({ github, forge }: Stage): Promise<PullRequest> {
  github.state.branches.set(wanted.head, "c1");
  const pull = await forge.openPullRequest(wanted);
  github.forget();
  return pull;
}

let ids = 0;

export function addReview({ github }: Stage, review: Partial<ScriptedGithub["state"]["reviews"][number]>) {
  const usual = { author: "ann", association: "MEMBER", state: "APPROVED", commit: "c1", body: "" } as const;
  const added = { id: ++ids, pull: 1, ...usual, ...review };
  github.state.reviews.push(added);
  return added;
}

export function addComment(
  { github }: Stage,
  where: "comments" | "lineComments",
  comment: Partial<ScriptedGithub["state"]["comments"][number]>,
) {
  const added = { id: ++ids, pull: 1, author: "ann", association: "MEMBER", body: "Hm.", ...comment };
  github.state[where].push(added);
  return added;
}

export function addCheck({ github }: Stage, name: string, conclusion: string | null, output = {}) {
  const said = { title: null, summary: null, ...output };
  const status = conclusion === null ? "in_progress" : "completed";
  github.state.checkRuns.push({ commit: "c1", name, status, conclusion, output: said });
}

export function addStatus({ github }: Stage, context: string, state: string, description: string | null = null) {
  github.state.statuses.push({ commit: "c1", context, state, description });
}

/** The requests that it received: `GET pulls/1`. */
export function askedOf({ github: { requests } }: Stage): readonly string[] {
  return requests.map(({ method, path }) => `${method} ${path.replace("/repos/acme/coffee/", "").split("?")[0]}`);
}

/** The parameters of each part of the contract. */
export interface Contract {
  readonly token: string;
  stage(): Stage;
}
