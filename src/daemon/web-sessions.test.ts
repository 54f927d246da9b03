import { expect, test } from "vitest";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../test/scripted-ports.ts";
import { createWebSessions, sessionId } from "./web-sessions.ts";

/** Browsers that are signed in, over a store that removes no key any more once it is broken. */
async function signedIn(count: number) {
  const store = createMemoryStore();
  const state = { isBroken: false };
  const webKeys = {
    ...store.webKeys,
    take: async (id: string) => {
      if (state.isBroken) throw new Error("The disk is full.");
      return store.webKeys.take(id);
    },
  };
  let secrets = 0;
  const ids = { task: () => "", secret: () => `secret-${++secrets}` };
  const sessions = createWebSessions({ store: { ...store, webKeys }, clock: createScriptedClock(), ids });
  const opened = [];
  for (let i = 0; i < count; i++) {
    const one = await sessions.open((await sessions.makeLink()).secret, { address: "a", browser: "b" });
    if (one === undefined) throw new Error("The link is not accepted.");
    opened.push(one);
  }
  return { sessions, opened, state };
}

test("a session that a person ends counts no longer and its streams end, also if the store cannot be written", async () => {
  for (const end of ["end", "endAll"] as const) {
    const { sessions, opened, state } = await signedIn(1);
    const [{ session, secret, pageKey }] = opened as [(typeof opened)[number]];
    let ended = 0;
    sessions.whenOver(session, () => ended++);
    expect(await sessions.of(secret, pageKey)).toEqual(session);
    state.isBroken = true;
    await expect(end === "end" ? sessions.end(sessionId(session)) : sessions.endAll()).rejects.toThrow("full");
    expect([await sessions.of(secret, pageKey), await sessions.list(), ended]).toEqual([undefined, [], 1]);
  }
});

test("all sessions end, also if the store fails at the first", async () => {
  const { sessions, opened, state } = await signedIn(3);
  state.isBroken = true;
  await expect(sessions.endAll()).rejects.toThrow("full");
  for (const { secret, pageKey } of opened) expect(await sessions.of(secret, pageKey)).toBeUndefined();
});
