// Writes the JSON schemas of the files that users write, from the shapes that the loaders check them with, and the
// description of the API, from the routes that the daemon answers.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApi } from "../src/api/openapi.ts";
import { jsonSchema } from "../src/engine/language/json-schema.ts";
import { configSchema } from "../src/home/config-shape.ts";
import { packageVersion } from "../src/home/package-version.ts";

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
