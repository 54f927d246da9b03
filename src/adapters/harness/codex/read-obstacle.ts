import type { Obstacle } from "../../../ports/harness.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm, outdated } from "../find-obstacle.ts";

const title = "Codex";
const forms: readonly ObstacleForm[] = [
  [/no rollout found for thread id|No saved session found/i, noSuchSession(title)],
  [/Update available![\s\S]*Skip until next version/i, outdated(title, "npm install -g @openai/codex")],
  [
    /Sign in with (ChatGPT|Device Code)|Choose how you want to use Codex|Not logged in/i,
    notLoggedIn(title, "codex login"),
  ],
  [/Trust this folder\?|Do you trust the contents of this directory/i, notTrusted(title)],
];

/** The screens at which Codex waits for a person before it begins, and what it says where it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
