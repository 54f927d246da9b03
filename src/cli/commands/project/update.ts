import { resolve } from "node:path";
import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { type ProjectFlags, projectSettings } from "../../register-project.ts";
import { writeJson } from "../../write-json.ts";

export interface UpdateFlags extends ProjectFlags {
  readonly path?: string;
  readonly json: boolean;
}

export async function update(this: Context, flags: UpdateFlags, name: string) {
  const path = flags.path === undefined ? undefined : resolve(flags.path);
  const body = { ...projectSettings(flags), ...given({ path }) };
  if (Object.keys(body).length === 0) {
    throw new Fault("usage", "There is nothing to change.", {
      hint: "To see what there is: signalbox project update --help",
    });
  }
  const project = await createCall(this)(routes.updateProject, { params: { project: name }, body });
  if (flags.json) return this.print(writeJson(project));
  for (const key of Object.keys(body) as (keyof typeof body)[]) {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    this.print(`${name}: ${project[key] === "" ? "–" : project[key]}`);
  }
}
