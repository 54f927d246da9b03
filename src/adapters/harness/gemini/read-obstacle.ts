import type { Obstacle } from "../../../ports/harness.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm } from "../find-obstacle.ts";

const title = "Gemini CLI";
const forms: readonly ObstacleForm[] = [
  [/Error resuming session|Invalid session identifier|No previous sessions found/i, noSuchSession(title)],
  [
    /How would you like to authenticate|No authentication method selected|Please set an Auth method|Waiting for auth|Enter Gemini API Key/i,
    notLoggedIn(title, "gemini"),
  ],
  [/Do you trust the files in this folder|is not running in a trusted (directory|folder)/i, notTrusted(title)],
];

/** The screens at which Gemini CLI waits for a person before it begins, and what it says where it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
