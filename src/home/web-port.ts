import { readFileSync } from "node:fs";
import { publishFile } from "../durable-file.ts";
import { isJsonObject } from "../json.ts";
import type { Places } from "./places.ts";

/** The port that the daemon has chosen for browsers, which a later daemon opens again. */
export function createChosenPort({ webPort: file }: Pick<Places, "webPort">) {
  return {
    /** 0 if none was chosen, or the file cannot be read. */
    read(): number {
      try {
        const found: unknown = JSON.parse(readFileSync(file, "utf8"));
        const port = isJsonObject(found) ? found.port : undefined;
        return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535 ? Number(port) : 0;
      } catch {
        return 0;
      }
    },
    write(port: number): void {
      publishFile(file, `${JSON.stringify({ port })}\n`, { mode: 0o600 });
    },
  };
}
