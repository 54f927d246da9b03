import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A hook says where it is, and goes on only when it is told to: so a daemon can be killed at exactly that moment. */
const script = `#!/bin/sh
folder=$1 number=$2
say() {
  mkfifo "$folder/go-$1-$$"
  echo "$1 $number $$" > "$folder/report-$SIGNALBOX_TASK"
  read -r _ < "$folder/go-$1-$$"
}
say begun
echo "$number $SIGNALBOX_EFFECT" >> "$folder/lines-$SIGNALBOX_TASK"
say written
`;

/** Writes the script; gives the command that runs it as the hook of a number. */
export function pacedHook(folder: string): (number: number) => string {
  const file = join(folder, "paced.sh");
  writeFileSync(file, script);
  return (number) => JSON.stringify(["sh", file, folder, String(number)]);
}

/** A hook that stands still. */
export interface Step {
  readonly at: "begun" | "written";
  readonly number: number;
  /** Of the hook; it leads a group of its own. */
  readonly pid: number;
  goOn(): void;
}

export interface Steps {
  next(): Promise<Step>;
  /** The lines that hooks of the task have written. */
  lines(): readonly string[];
  /** Ends what still stands somewhere. */
  close(): void;
}

/** The steps of one task's hooks as they come. */
export function watchSteps(folder: string, task: string): Steps {
  const report = join(folder, `report-${task}`);
  execFileSync("mkfifo", [report]);
  // Open in both directions, so that it does not end when a writer goes.
  const descriptor = openSync(report, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd: descriptor, readable: true, writable: false });
  const come: Step[] = [];
  const pids = new Set<number>();
  const waiting: ((step: Step) => void)[] = [];
  createInterface({ input: socket }).on("line", (line) => {
    const [at, number, pid] = line.split(" ");
    const step: Step = {
      at: at === "begun" ? "begun" : "written",
      number: Number(number),
      pid: Number(pid),
      goOn: () => goOn(join(folder, `go-${at}-${pid}`)),
    };
    pids.add(step.pid);
    const next = waiting.shift();
    if (next === undefined) come.push(step);
    else next(step);
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const step = come.shift();
        if (step === undefined) waiting.push(resolve);
        else resolve(step);
      }),
    lines: () => {
      const text = readFileSync(join(folder, `lines-${task}`), "utf8");
      return text.split("\n").slice(0, -1);
    },
    close: () => {
      socket.destroy();
      for (const pid of pids) killGroup(pid);
    },
  };
}

/** Waits until the hook listens, which it does at once after it has said where it is. */
function goOn(fifo: string): void {
  const descriptor = openSync(fifo, "w");
  writeFileSync(descriptor, "\n");
  closeSync(descriptor);
}

/** A hook and what it has begun. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
