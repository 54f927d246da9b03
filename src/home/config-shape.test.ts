import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configSchema } from "./config-shape.ts";
import { packageRoot } from "./places.ts";

test("the schema in the repository matches the shape; `npm run schema` writes it", () => {
  const written = readFileSync(join(packageRoot(), "schema", "config.schema.json"), "utf8");
  expect(JSON.parse(written)).toEqual(configSchema());
});

test("the schema has the user's keys with their bounds", () => {
  expect(configSchema()).toMatchObject({
    title: "Signalbox configuration",
    properties: {
      pool_size: { type: "integer", minimum: 1, maximum: 1_000 },
      port: { type: "integer", minimum: 0, maximum: 65_535 },
      log_level: { enum: ["debug", "info", "warn", "error"] },
      notify: { properties: { desktop: { type: "boolean" } }, additionalProperties: false },
      $schema: {},
    },
    additionalProperties: false,
  });
});
