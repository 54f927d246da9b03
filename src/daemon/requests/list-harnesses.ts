import type { Routes } from "../../api/routes.ts";
import { harnessNamed } from "../agents/harnesses.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { agentsOf } from "./agents-of.ts";

export function listHarnesses(core: Core): Handler<Routes["listHarnesses"]> {
  return async ({ query }) => {
    const agents = agentsOf(core);
    const { harnesses } = agents.ports;
    const chosen = query.name === undefined ? [...harnesses().values()] : [harnessNamed(harnesses, query.name)];
    const limits = agents.dispatch.limits();
    const views = chosen.map(async ({ name, title, can, detect, login }) => {
      const limit = limits.find(({ harness }) => harness === name);
      const atWork = agents.watches().filter(({ run }) => run.harness === name).length;
      const limitedUntil = limit === undefined ? null : isoTime(limit.until);
      const detected = await detect();
      const { state, hint: loginHint } =
        detected.found && login !== undefined ? await login() : { state: "unknown" as const, hint: "" };
      const told = { name, title, ...detected, login: state, loginHint };
      return { ...told, limitedUntil, atWork, can: { ...can, withholds: [...can.withholds] } };
    });
    return { harnesses: await Promise.all(views) };
  };
}
