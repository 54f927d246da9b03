import type { Obstacle } from "../../../ports/harness.ts";
import { findObstacle, noSuchSession, notLoggedIn, type ObstacleForm } from "../find-obstacle.ts";

const title = "OpenCode";
const forms: readonly ObstacleForm[] = [
  [/Session not found/i, noSuchSession(title)],
  [
    /Connect a provider|No providers? (connected|configured|available)|ProviderAuthError/i,
    notLoggedIn(title, "opencode auth login"),
  ],
];

/** The screens at which OpenCode waits for a person before it begins, and what it says where it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
