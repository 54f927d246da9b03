// Writes the JSON schema of the workflow language, from the shape that the loader checks files with.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema } from "../src/engine/language/json-schema.ts";

const file = join("schema", "workflow.schema.json");
writeFileSync(file, JSON.stringify(jsonSchema(), null, 2));
execFileSync(join("node_modules", ".bin", "biome"), ["format", "--write", file], { stdio: "inherit" });
