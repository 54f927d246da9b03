import { Refusal } from "../../api/error.ts";
import type { SaidView } from "../../api/person-routes.ts";
import type { Reason } from "../../engine/decision.ts";
import type { PersonsWord, Request } from "../../engine/request.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Asked } from "../asked.ts";
import type { Core } from "../core.ts";
import { learningIn } from "../merging/give-back.ts";
import { refusal } from "../submit.ts";
import type { Addition } from "../write-document.ts";
import { changeView } from "./move-task.ts";
import { actorFor } from "./standing.ts";

type About = Asked<{ readonly project?: string }, unknown>;

/** What somebody wants to happen to the task with their words. */
export type Wish = { readonly kind: "continue" } | { readonly kind: "move"; readonly to: string };

/** Writes somebody's words into a section, moves the task and lets its agent know: all of it, or nothing. */
export async function say(
  core: Core,
  { task }: StoredTask,
  wish: Wish,
  word: PersonsWord,
  words: Omit<Addition, "at">,
): Promise<SaidView> {
  const request: Request = { ...wish, actor: { role: "human" }, word: { ...word, entry: task.entry } };
  if (words.text.trim() === "") {
    const reason: Reason = { code: "bad-value", text: "Nothing is said.", fix: 'Say it: -m "Your words"' };
    throw new Refusal([reason]);
  }
  const answer = await core.submit(task.id, request, { ...words, at: core.clock.now() });
  const change = await changeView(core, answer);
  const { run, how } = learningIn(answer.decision);
  return { change, section: words.section, told: how === "" ? null : { run, how } };
}

/** Refused before anything is looked at more closely; it goes into history, as all refusals do. */
export async function refuse(
  core: Core,
  { task }: StoredTask,
  wish: Wish | { readonly kind: "reply"; readonly text: string } | { readonly kind: "respawn" },
  reason: Reason,
): Promise<never> {
  const request: Request = { ...wish, actor: { role: "human" } };
  await core.store.addEvents(task.id, [refusal(request, [reason])], core.clock.now());
  throw new Refusal([reason]);
}

/** A person's own folder is no workspace: there, commands speak for the agent. */
export async function mustBePerson(core: Core, asked: About, stored: StoredTask, wish: Wish): Promise<void> {
  await actorFor(core, stored, asked, (actor) => ({ ...wish, actor }));
}
