import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A hook reports its step, and continues only when it is told to, so that a test can kill the daemon at exactly that moment. */
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

/** Writes the script; returns the command that runs it as the hook with this number. */
export function pacedHook(folder: string): (number: number) => string {
  const file = join(folder, "paced.sh");
  writeFileSync(file, script);
  return (number) => JSON.stringify(["sh", file, folder, String(number)]);
}

/** A hook that waits. */
export interface Step {
  readonly at: "begun" | "written";
  readonly number: number;
  /** The process id of the hook, which leads its own process group. */
  readonly pid: number;
  goOn(): void;
}

export interface Steps {
  next(): Promise<Step>;
  /** The lines that the task's hooks have written. */
  lines(): readonly string[];
  /** Ends all waiting hooks. */
  close(): void;
}

/** The steps of one task's hooks as they are reported. */
export function watchSteps(folder: string, task: string): Steps {
  const report = join(folder, `report-${task}`);
  execFileSync("mkfifo", [report]);
  // Opened for reading and writing, so that it does not end when a writer closes it.
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

/** Waits until the hook listens, which it does immediately after its report. */
function goOn(fifo: string): void {
  const descriptor = openSync(fifo, "w");
  writeFileSync(descriptor, "\n");
  closeSync(descriptor);
}

/** A hook and its child processes. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
