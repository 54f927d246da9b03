import type { IncomingMessage } from "node:http";
import { Fault } from "../../fault.ts";
import { mostBytes, tooLarge } from "./guard.ts";

/** The JSON of a request; undefined where there is none. */
export function readBody(request: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) return void chunks.push(chunk);
      reject(tooLarge());
      request.resume();
    });
    request.on("end", () => {
      if (size === 0) return resolve(undefined);
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      } catch (error) {
        reject(new Fault("request.body", "The body is not valid JSON.", { cause: error }));
      }
    });
    request.on("error", reject);
  });
}
