// Writes the JSON schemas of the files that users write, from the shapes that the loaders check them with.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema } from "../src/engine/language/json-schema.ts";
import { configSchema } from "../src/home/config-shape.ts";

const schemas = { workflow: jsonSchema(), config: configSchema() };

for (const [name, schema] of Object.entries(schemas)) {
  const file = join("schema", `${name}.schema.json`);
  writeFileSync(file, JSON.stringify(schema, null, 2));
  execFileSync(join("node_modules", ".bin", "biome"), ["format", "--write", file], { stdio: "inherit" });
}
