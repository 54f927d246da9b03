import { PassThrough } from "node:stream";
import { Fault } from "../../../fault.ts";
import type { ControlGit } from "./control-git.ts";

/** One git that is asked for one object after the other, because starting it takes longer than an answer. */
export interface ObjectReader {
  /** Refused with `git.incomplete` where there is no such object. */
  read(id: string): Promise<Buffer>;
  close(): Promise<void>;
}

interface Asked {
  readonly id: string;
  resolve(content: Buffer): void;
  reject(error: unknown): void;
}

export function openReader(control: ControlGit): ObjectReader {
  const questions = new PassThrough();
  const asked: Asked[] = [];
  /** What is asked for at the same moment is sent together. */
  let unsent = "";
  let failure: unknown;
  let rest: Buffer = Buffer.alloc(0);
  const ended = control
    .git(["cat-file", "--batch"], { input: questions, onOutput: take, isLong: true })
    .then(() => fail(gone()), fail);
  return {
    read(id) {
      if (failure !== undefined) return Promise.reject(failure);
      return new Promise((resolve, reject) => {
        asked.push({ id, resolve, reject });
        if (unsent === "") setImmediate(send);
        unsent += `${id}\n`;
      });
    },
    close() {
      questions.end(unsent);
      unsent = "";
      return ended;
    },
  };

  function send(): void {
    if (unsent !== "") questions.write(unsent);
    unsent = "";
  }

  function fail(error: unknown): void {
    failure = error;
    for (const { reject } of asked.splice(0)) reject(error);
  }

  /** `<id> <kind> <size>`, a line end, the content, a line end; or `<id> missing`. */
  function take(chunk: Buffer): void {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const [, kind = "", size] = rest.toString("latin1", 0, end).split(" ");
      const after = end + 1 + (size === undefined ? 0 : Number(size) + 1);
      if (rest.length < after) return;
      const content = rest.subarray(end + 1, after - 1);
      rest = rest.subarray(after);
      const question = asked.shift();
      if (size === undefined) question?.reject(missing(question.id, kind, control.folder));
      else question?.resolve(content);
    }
  }
}

function missing(id: string, word: string, folder: string): Fault {
  return new Fault("git.incomplete", `The object ${id} is ${word} in ${folder}.`, {
    hint: "Look what is missing: git fsck",
  });
}

function gone(): Fault {
  return new Fault("git.failed", '"git cat-file" ended before it had answered.', { retry: "later" });
}
