import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programSteps, type Scene } from "./steps.ts";

test("a refused tool is told in its own words, without the protocol around them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tool-"));
  const failsWith = async (printed: string) => {
    const cli = join(folder, "cli");
    writeFileSync(cli, `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${printed}\nEND\n`);
    chmodSync(cli, 0o755);
    const scene = { folder, cli, env: {}, signal: new AbortController().signal, show: () => {} } as unknown as Scene;
    return await programSteps.tool?.({ name: "comment", input: {} }, { ...scene, env: { PATH: "/bin:/usr/bin" } });
  };
  const answer = (rest: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...rest });
  const content = [{ type: "text", text: "The message is empty." }];
  expect(await failsWith(answer({ result: { content, isError: true } }))).toMatchObject({
    message: "The tool comment failed. The message is empty.",
  });
  expect(await failsWith(answer({ error: { code: -32601, message: "There is no such tool." } }))).toMatchObject({
    message: "The tool comment failed. There is no such tool.",
  });
  expect(await failsWith("It crashed.")).toMatchObject({ message: "The tool comment failed. It crashed." });
  rmSync(folder, { recursive: true });
});
