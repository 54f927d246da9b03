import type { Obstacle } from "../../ports/harness.ts";

/** How a program words an obstacle. */
export type ObstacleForm = readonly [form: RegExp, obstacle: Obstacle];

/** A dialog is at the end of a screen; what stands higher up may be anything. */
const foot = 40;

/** The first form that the end of a text has. */
export function findObstacle(text: string, forms: readonly ObstacleForm[]): Obstacle | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const end = lines.slice(-foot).join("\n");
  return forms.find(([form]) => form.test(end))?.[1];
}

export function notLoggedIn(title: string, command: string): Obstacle {
  return { kind: "login", told: `${title} is not logged in. Log in: ${command}` };
}

export function notTrusted(title: string): Obstacle {
  return { kind: "trust", told: `${title} asks whether it may trust the folder. Answer it in its window.` };
}

export function outdated(title: string, command: string): Obstacle {
  return { kind: "update", told: `${title} asks to be updated first. Update it: ${command}` };
}

export function noSuchSession(title: string): Obstacle {
  return { kind: "session", told: `${title} does not know the session that it was to go on in.` };
}
