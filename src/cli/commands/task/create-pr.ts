import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { readInput } from "../../read-input.ts";
import { writeJson } from "../../write-json.ts";

export interface CreatePrFlags {
  readonly title?: string;
  readonly body?: string;
  readonly draft: boolean;
  readonly json: boolean;
}

export async function createPr(this: Context, flags: CreatePrFlags, reference: string) {
  const { title, draft, json } = flags;
  const text = flags.body === "-" ? await readInput(this, "-") : flags.body;
  const call = createCall(this);
  const named = await nameTask(call, reference);
  const body = given({ title, body: text, draft: draft ? true : undefined });
  const pullRequest = await call(routes.openPullRequest, { ...named, body });
  if (json) return this.print(writeJson(pullRequest));
  const { url, number, head, base } = pullRequest;
  if (url !== "") return this.print(url);
  this.print(`${number}`);
  this.say(
    `Pushed ${head}. Its remote leads to no GitHub that you are logged in to, so no pull request was opened there.`,
  );
  this.say(
    `It is written down here as ${number}, from ${head} into ${base}. To merge it here: signalbox task merge ${reference}`,
  );
}
