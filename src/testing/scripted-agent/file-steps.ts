import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { bodyOf, parseTaskDocument, withSection } from "../../engine/task-document.ts";
import { Fault } from "../../fault.ts";
import type { StepPlayers } from "./scene.ts";

const block = Buffer.alloc(1024 * 1024, "x");

/** The steps that change files. */
export const fileSteps: StepPlayers = {
  write({ file, text }, { folder }) {
    writeFileSync(placeFor(folder, file), text);
    return undefined;
  },
  append({ file, text }, { folder }) {
    writeFileSync(placeFor(folder, file), text, { flag: "a" });
    return undefined;
  },
  delete(file, { folder }) {
    rmSync(resolve(folder, file), { recursive: true, force: true });
    return undefined;
  },
  fill({ file, bytes }, { folder }) {
    const opened = openSync(placeFor(folder, file), "w");
    try {
      for (let left = bytes; left > 0; ) left -= writeSync(opened, block, 0, Math.min(left, block.length));
    } finally {
      closeSync(opened);
    }
    return undefined;
  },
  section({ heading, text }, { taskFile }) {
    if (taskFile === "") throw new Fault("script", `The run has no task file to write "## ${heading}" into.`);
    const before = readFileSync(taskFile, "utf8");
    const document = parseTaskDocument(before);
    const head = before.slice(0, before.length - bodyOf(document).length);
    writeFileSync(taskFile, head + bodyOf(withSection(document, heading, text)));
    return undefined;
  },
  delete_task_file(_, { taskFile }) {
    if (taskFile !== "") rmSync(taskFile, { force: true });
    return undefined;
  },
  delete_workspace(_, { folder }) {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  },
};

function placeFor(folder: string, file: string): string {
  const place = resolve(folder, file);
  mkdirSync(dirname(place), { recursive: true });
  return place;
}
