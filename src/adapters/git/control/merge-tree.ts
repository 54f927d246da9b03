import type { ConflictFile, Prediction } from "../../../ports/control-repository.ts";
import { checkCommit } from "../check-names.ts";
import { fileName, splitNul } from "../file-name.ts";
import { lastLines } from "../git-fault.ts";
import type { ControlGit } from "./control-git.ts";

/** Merges two commits without a working tree. Programs that attributes name do not run: no configuration has them. */
export async function mergeTree(control: ControlGit, a: string, b: string): Promise<Prediction> {
  const ids = [checkCommit(a), checkCommit(b)];
  const args = ["merge-tree", "--write-tree", "-z", "--end-of-options", ...ids];
  const options = { accepts: [0, 1], settings, isLong: true, writes: true, mayGiveUp: true };
  const { code, stdout, stderr } = await control.git(args, options);
  // Git 2.39 gives up on some mixes of links, files and folders. That must not keep others from being merged.
  if (code === undefined) return { kind: "conflict", files: [], text: `git gave up: ${lastLines(stderr)}`, tree: "" };
  const parts = splitNul(stdout);
  const tree = parts[0]?.toString("latin1") ?? "";
  if (code === 0) return { kind: "clean", tree };
  const end = parts.findIndex((part) => part.length === 0);
  const messages = readMessages(parts.slice(end + 1));
  const paths = new Map(
    parts.slice(1, end).map((part) => {
      const path = part.subarray(part.indexOf("\t") + 1);
      return [path.toString("latin1"), path];
    }),
  );
  const files: readonly ConflictFile[] = [...paths].map(([key, path]) => ({
    path: fileName(path),
    kind: messages.find(({ paths, kind }) => kind !== undefined && paths.includes(key))?.kind ?? "other",
  }));
  return { kind: "conflict", files, text: messages.map(({ text }) => text).join("\n"), tree };
}

/** What these say by themselves may change with the user's taste; a merge that is done again must come to the same. */
const settings = ["merge.renames=true", "merge.directoryRenames=conflict", "diff.renameLimit=7000"];

interface Message {
  readonly paths: readonly string[];
  readonly kind: string | undefined;
  readonly text: string;
}

/** Each is a number, as many paths, a heading and a text. */
function readMessages(parts: readonly Buffer[]): readonly Message[] {
  const messages: Message[] = [];
  for (let at = 0; at < parts.length; ) {
    const count = Number(parts[at]);
    const paths = parts.slice(at + 1, at + 1 + count).map((path) => path.toString("latin1"));
    const [heading = "", text = ""] = parts.slice(at + 1 + count).map((part) => part.toString("utf8"));
    const [, kind] = /^CONFLICT \((.*)\)$/.exec(heading) ?? [];
    if (kind !== undefined) messages.push({ paths, kind, text: lastLines(text) });
    at += count + 3;
  }
  return messages;
}
