// Records the dashboard for the documents: npm run recording. The demo's four tasks are answered, reviewed and merged with keys
// alone, in a real terminal.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import buildPrograms from "../test/build-programs.ts";
import { animationOf } from "./recording/animation.ts";
import { createCamera } from "./recording/camera.ts";
import { back, front } from "./recording/cells.ts";

const maxBytes = 400_000;
const file = join(import.meta.dirname, "..", "docs", "images", "dashboard.svg");
const [columns, rows] = [104, 24];
/** Terminals take a key that follows Escape at once as one key with it. */
const betweenKeys = 200;
const answer = "On Sundays from 9 to 12.";

const remove = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { openDemo } = await import("../test/web/demo-stage.ts");
const { openTerminal } = await import("../test/e2e/at-terminal.ts");
const { cliFile } = await import("../test/programs.ts");
const demo = await openDemo();
const terminal = openTerminal([process.execPath, cliFile, "dashboard"], {
  ...{ base: demo.base, folder: demo.repository, columns, rows },
  env: { ...demo.env, SIGNALBOX_HOME: demo.home },
});
const camera = createCamera(terminal, columns);
const { take } = camera;

/** Presses keys, which have the names of tmux, and takes what they lead to. */
async function press(keys: string, caption: string, seconds: number, shows: RegExp): Promise<void> {
  const names = keys.split(" ");
  for (const [i, name] of names.entries()) {
    if (i > 0) await sleep(betweenKeys);
    terminal.press(name);
  }
  await take({ keys: names, caption, seconds, shows });
}

/** Types a text, and takes it as it grows. */
async function type(text: string, caption: string): Promise<void> {
  let typed = "";
  while (typed.length < text.length) {
    const piece = text.slice(typed.length, typed.length + 3);
    terminal.tmux("send-keys", "-l", piece);
    typed += piece;
    const seconds = typed.length < text.length ? 0.25 : 1.5;
    // The count of tasks that need the person can come before the tasks.
    const shows = new RegExp(` (\\d) need you[\\s\\S]*Needs you \\1\n[\\s\\S]*> ${typed.trimEnd()}`);
    await take({ caption, seconds, shows });
  }
}

let still: number;
try {
  await terminal.shows(/[34] running/);
  terminal.press("Home");
  const atWork = /0 need you(?:[\s\S]*● coffee#\d .*worker#1){2}/;
  await take({ caption: "signalbox dashboard: agents at work", seconds: 2.5, shows: atWork });
  await terminal.shows(/1 need you/);
  await press("]", "to the task that needs you", 3, /\n›▲ coffee#3 [\s\S]*a answer/);
  await press("Space", "peek: what does its agent ask?", 3, /Are we open on Sundays[\s\S]*answer>/);
  await type(answer, "reply in place");
  still = camera.frames.length - 1;
  await press("Enter", "its agent goes on", 3, /coffee#3: .*is told.*\$ signalbox task answer/);

  // Nothing moves for ten seconds after a key. Then the list begins with its first line again.
  await take({ caption: "Reviewers have passed all four", seconds: 2, shows: /SUMMARY.*\nNeeds you 4\n/ });
  await press("]", "to the next one", 1.5, /\n›▲ coffee#1 [\s\S]*m merge/);
  await press("d", "review its diff", 3.5, /\[diff 1\][\s\S]*\+- flat white/);
  await press("m", "merge: it asks first", 3.5, /commit into main[\s\S]*Press y/);
  await press("y", "only y does it", 2, /^(?![\s\S]*Reading …)[\s\S]*coffee#1: Merged into main/);

  await press("Escape [", "to the task that asked", 1.5, /\n›▲ coffee#3 [\s\S]*m merge/);
  await press("d", "its diff has the answer", 3, /\+- Sunday 9 to 12/);
  await press("m", "merge", 1.5, /commit into main[\s\S]*Press y/);
  await press("y", "yes", 1.5, /^(?![\s\S]*Reading …)[\s\S]*coffee#3: Merged into main/);

  await press("Escape ] d", "the next diff", 2, /coffee#4 List[\s\S]*\[diff 1\][\s\S]*\+- Kenya/);
  await press("]", "and the last one", 2, /coffee#2 Put[\s\S]*\[diff 1\][\s\S]*\+- flat white/);
  await press("Escape Home v v", "select both", 2, /2 selected/);
  await press("m", "merge both", 2.5, /coffee#2 Put[\s\S]*Press y/);
  await press("y", "yes", 2, /Merged into main.*Merged into main/);
  await press("z", "what you did, and how to take it back", 3.5, /Done here/);
  await press("Escape Space", "all four are merged", 4, /SUMMARY.*\n›▾ Over 4\n[\s\S]*coffee#1 /);
  await demo.saying(/4 tasks merged into main/);
} finally {
  terminal.close();
  await demo.close();
  remove?.();
}

const svg = animationOf(camera.frames, {
  ...{ columns, rows, back, front, still },
  title: "signalbox dashboard",
  description:
    "A terminal with four tasks of four agents. The question of one is answered in place. The diffs of the tasks are reviewed, each merge asks first and is answered with y, and all four are merged.",
});
writeFileSync(file, svg);
const { size } = statSync(file);
if (size > maxBytes) throw new Error(`${file} has ${size} bytes, more than ${maxBytes}.`);
const seconds = camera.frames.reduce((sum, frame) => sum + frame.seconds, 0);
process.stdout.write(
  `${file}: ${camera.frames.length} frames, ${Math.round(seconds)} s, ${Math.ceil(size / 1_000)} kB\n`,
);
