import type { ServerResponse } from "node:http";
import type { Call } from "../../api/client.ts";
import { mcpServer, protocolVersions, type Tool } from "../../api/mcp-server.ts";
import { personTools, runTools } from "../../api/mcp-tools.ts";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Caller } from "../callers.ts";
import type { Core } from "../core.ts";
import type { Asked } from "../handlers.ts";
import { toolsOf } from "./hand-over.ts";

/** Calls a route for the same caller, with the checks that a request over HTTP gets. */
export type Inside = (asked: Pick<Asked<unknown, unknown>, "caller" | "folder">) => Call;

/**
 * Speaks the Model Context Protocol over HTTP: a JSON answer to each request, no sessions and no streams. A run has the tools of
 * its stage, a person those of people.
 */
export function mcp(core: Core, inside: Inside) {
  return async (asked: Asked<unknown, unknown>, response: ServerResponse): Promise<unknown> => {
    const { caller, body } = asked;
    checkVersion(response);
    mustBeKnown(core, caller);
    const call = inside(asked);
    const answer = mcpServer(async () => toolsFor(core, caller, call), core.version);
    const reply = await answer(body);
    if (reply !== undefined) return reply;
    response.writeHead(202, { "cache-control": "no-store", "x-content-type-options": "nosniff" });
    response.end();
    return undefined;
  };
}

/** Other routes check it only for GET, because their handlers look at the task. */
function mustBeKnown(core: Core, caller: Caller): void {
  if (caller.kind === "human" || (caller.kind === "run" && !caller.isOver)) return;
  core.refusals.stranger();
  const why = caller.kind === "nobody" ? caller.why : "The run is over.";
  throw new Fault("caller.unknown", `This needs a credential. ${why}`, {
    hint: "Send Authorization: Bearer <token>, with a person's token or a live run's.",
  });
}

function checkVersion({ req: { headers } }: ServerResponse): void {
  const version = headers["mcp-protocol-version"];
  if (version === undefined || protocolVersions.includes(String(version))) return;
  throw new Fault(
    "request.invalid",
    `The version "${String(version)}" of the Model Context Protocol is not supported.`,
    {
      hint: `Supported: ${protocolVersions.join(", ")}.`,
    },
  );
}

async function toolsFor(core: Core, caller: Caller, call: Call): Promise<readonly Tool[]> {
  if (caller.kind !== "run") return personTools(call);
  const names = await toolsOf(core, caller);
  const own = { params: { task: "." }, query: {} };
  const tools = runTools({
    call,
    move: (to) => call(routes.moveTask, { ...own, body: { to } }),
    comment: (text) => call(routes.commentTask, { ...own, body: { text } }),
  });
  return tools.filter(({ name }) => names.includes(name));
}
