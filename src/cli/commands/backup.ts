import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { writeJson } from "../write-json.ts";

export async function backup(this: Context, { json }: { json: boolean }, file?: string) {
  if (file !== undefined && existsSync(file)) {
    throw new Fault("exists", `${file} is there already.`, { hint: "Choose another name." });
  }
  const body = file === undefined ? {} : { path: resolve(file) };
  const answer = await createCall(this)(routes.backup, { body });
  this.print(json ? writeJson(answer) : answer.path);
}
