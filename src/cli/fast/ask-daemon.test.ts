import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureHumanToken } from "../../home/human-token.ts";
import { homePlaces } from "../../home/places.ts";
import { askDaemon } from "./ask-daemon.ts";

const question = { method: "GET", path: "/v1/status", body: undefined };

/** A daemon that answers requests without a credential with 401, and then does `afterwards`. */
async function stage(afterwards: (places: ReturnType<typeof homePlaces>) => void) {
  const home = mkdtempSync(join(tmpdir(), "ask-daemon-"));
  const places = homePlaces(home);
  const asked: (string | undefined)[] = [];
  const server = createServer(({ headers }, answer) => {
    asked.push(headers.authorization);
    answer.statusCode = headers.authorization === undefined ? 401 : 200;
    afterwards(places);
    answer.end("{}");
  });
  mkdirSync(dirname(places.socket), { recursive: true });
  await new Promise<void>((listens) => server.listen(places.socket, listens));
  onTestFinished(() => {
    server.close();
    rmSync(home, { recursive: true });
  });
  const asker = { places, env: {}, folder: home, version: "1" };
  return { asked, asker, places };
}

test("a command that looked for the token before the first daemon of a home had created it asks again with it", async () => {
  const { asked, asker, places } = await stage(ensureHumanToken);
  expect((await askDaemon(asker, question)).status).toBe(200);
  expect(asked).toEqual([undefined, `Bearer ${ensureHumanToken(places)}`]);
});

test("a command without a credential is refused, and asks once", async () => {
  const { asked, asker } = await stage(() => {});
  expect((await askDaemon(asker, question)).status).toBe(401);
  expect(asked).toEqual([undefined]);
});
