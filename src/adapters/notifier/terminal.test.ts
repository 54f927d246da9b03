import { expect, test } from "vitest";
import { terminal } from "./notifiers.ts";

const note = { title: "coffee#12 Brew", text: "It is done.", task: "t1", project: "coffee", key: "t1:7" };

async function written(options: { isTTY?: boolean; env?: Record<string, string>; title?: string; text?: string } = {}) {
  const { isTTY = true, env = {}, ...texts } = options;
  let out = "";
  const write = (text: string) => {
    out += text;
  };
  await terminal({ write, isTTY, env }).notify({ ...note, ...texts });
  return out;
}

test("both sequences and the bell are written", async () => {
  expect(await written()).toBe(
    "\u001b]9;coffee#12 Brew: It is done.\u0007\u001b]777;notify;coffee#12 Brew;It is done.\u0007\u0007",
  );
});

test("without a terminal nothing is written", async () => {
  expect(await written({ isTTY: false })).toBe("");
});

test("no text can end its sequence, begin another or add a part", async () => {
  expect(await written({ title: "4;1;50\u0007\u001b]0;x", text: "a;b\u009c\u009d\r\n\u001b\\c" })).toBe(
    "\u001b]9;4,1,50: a,b c\u0007\u001b]777;notify;4,1,50;a,b c\u0007\u0007",
  );
});

test("inside tmux the sequences are passed through with doubled escapes, and tmux gets the bell", async () => {
  expect(await written({ env: { TMUX: "/tmp/tmux-0/default,1,0" } })).toBe(
    "\u001bPtmux;\u001b\u001b]9;coffee#12 Brew: It is done.\u0007\u001b\\" +
      "\u001bPtmux;\u001b\u001b]777;notify;coffee#12 Brew;It is done.\u0007\u001b\\" +
      "\u0007",
  );
});
