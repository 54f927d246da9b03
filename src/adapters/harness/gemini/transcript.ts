import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { HarnessEvent } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { countAt, parseObject, textAt } from "../json-at.ts";

/** A message with tools is written again when they have run; what it says and used up is told the first time. */
export function readTranscriptLine(line: string): readonly HarnessEvent[] {
  const message = parseObject(line);
  if (message?.type !== "gemini" || "toolCalls" in message) return [];
  if (jsonAt(message, "tokens") === undefined) return [];
  const cachedTokens = countAt(message, "tokens", "cached");
  const usage = {
    model: textAt(message, "model"),
    inputTokens: Math.max(0, countAt(message, "tokens", "input") - cachedTokens),
    outputTokens: countAt(message, "tokens", "output") + countAt(message, "tokens", "thoughts"),
    cachedTokens,
    cost: undefined,
  };
  const said = textAt(message, "content");
  return [...(said.trim() === "" ? [] : [{ kind: "said", text: said } as const]), { kind: "usage", usage }];
}

/** The file of a session. To resume it leaves others of hardly a line, and goes on with the first. */
export async function findTranscript(session: string, userFolder: string): Promise<string> {
  const ending = `-${session.slice(0, 8)}.jsonl`;
  const projects = await readdir(join(userFolder, "tmp")).catch(() => []);
  const files: { readonly name: string; readonly path: string }[] = [];
  for (const project of projects) {
    const folder = join(userFolder, "tmp", project, "chats");
    for (const name of await readdir(folder).catch(() => []))
      if (name.endsWith(ending) && (await isOf(join(folder, name), session)))
        files.push({ name, path: join(folder, name) });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))[0]?.path ?? "";
}

async function isOf(path: string, session: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer.toString("utf8", 0, bytesRead).includes(session);
  } finally {
    await file.close();
  }
}
