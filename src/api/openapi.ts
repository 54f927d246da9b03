import type { Route } from "./client.ts";
import { routes } from "./routes.ts";
import { taskWire } from "./tasks.ts";
import { pageKeyHeader } from "./web.ts";
import type { JsonSchema } from "./wire.ts";

/** The OpenAPI document of the API. Served by the daemon, and checked in under schema/. */
export function openApi(version: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of Object.values(routes) as readonly Route[]) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signalbox",
      version,
      description:
        "The daemon of one home folder: over its unix socket, or over TCP on 127.0.0.1 with a token or a browser's session. JSON only; no CORS.",
    },
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The person's token, or a run's." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "signalbox-PORT",
          description: "A browser's session, over TCP.",
        },
        pageKey: {
          type: "apiKey",
          in: "header",
          name: pageKeyHeader,
          description: "The key that came with the session.",
        },
      },
      schemas: { Error: errorSchema },
    },
  };
}

function operation(route: Route): JsonSchema {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const query = (route.query?.schema.properties ?? {}) as Readonly<Record<string, unknown>>;
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
  return {
    operationId: route.name,
    summary: route.summary,
    security: securityOf(route),
    ...(inPath.length + inQuery.length > 0 ? { parameters: [...inPath, ...inQuery] } : {}),
    ...(route.body
      ? { requestBody: { required: true, content: { "application/json": { schema: route.body.schema } } } }
      : {}),
    responses: {
      ...(route.answerType === "websocket"
        ? { 101: { description: "The connection is a WebSocket from here on" } }
        : {
            200: {
              description: "Done",
              content: { [route.answerType ?? "application/json"]: { schema: route.answer.schema } },
            },
          }),
      default: {
        description: "Refused, or failed; nothing has changed",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function securityOf({ access }: Route): readonly JsonSchema[] {
  if (access === "page") return [{}];
  const credentials = [{ token: [] }, { session: [], pageKey: [] }];
  return access === "anyone" ? [{}, ...credentials] : credentials;
}

const errorSchema: JsonSchema = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        hint: { type: "string" },
        retry: { type: "string", enum: ["later", "never"] },
        reasons: {
          type: "array",
          items: {
            type: "object",
            properties: { code: { type: "string" }, text: { type: "string" }, fix: { type: "string" } },
            required: ["code", "text", "fix"],
          },
        },
        task: { ...taskWire.schema, description: "With the code task.stale: the task as it is" },
      },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};
