// Writes the JSON Schemas of the users' files, from the shapes that the loaders use, and the OpenAPI document, from the
// routes of the daemon.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApi } from "../src/api/openapi.ts";
import { jsonSchema } from "../src/engine/language/shape.ts";
import { configSchema } from "../src/home/config-shape.ts";
import { packageVersion } from "../src/home/places.ts";

const schemas = {
  "workflow.schema": jsonSchema(),
  "config.schema": configSchema(),
  openapi: openApi(packageVersion),
};

for (const [name, schema] of Object.entries(schemas)) {
  const file = join("schema", `${name}.json`);
  writeFileSync(file, JSON.stringify(schema, null, 2));
  execFileSync(join("node_modules", ".bin", "biome"), ["format", "--write", file], { stdio: "inherit" });
}
