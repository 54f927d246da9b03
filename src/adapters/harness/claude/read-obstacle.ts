import type { Obstacle } from "../../../ports/harness.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm, outdated } from "../find-obstacle.ts";

const title = "Claude Code";
const forms: readonly ObstacleForm[] = [
  [/No conversation found with session ID/i, noSuchSession(title)],
  [/needs an update|newer version .{0,40}is required to continue/i, outdated(title, "claude update")],
  [
    /Not logged in|run \/login|Select login method|Choose the text style|Invalid API key|OAuth token (has expired|revoked)/i,
    notLoggedIn(title, "claude auth login"),
  ],
  [/Is this a project you created or one you trust|Do you trust the files in this folder/i, notTrusted(title)],
];

/** The screens at which Claude Code waits for a person before it begins, and what it says where it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
