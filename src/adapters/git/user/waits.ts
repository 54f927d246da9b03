import type { Waits } from "../../../ports/control-repository.ts";
import type { FileName } from "../../../ports/git-names.ts";

export function waits(reason: Waits["reason"], text: string, files: readonly FileName[] = []): Waits {
  return { kind: "waits", reason, files, text };
}
