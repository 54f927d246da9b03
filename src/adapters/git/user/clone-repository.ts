import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../../fault.ts";
import type { CloneOrder } from "../../../ports/git.ts";
import { syncFolder } from "../../sync-folder.ts";
import type { RunGit } from "../git-runner.ts";
import { masked } from "../masked.ts";
import { remoteOptions } from "../remote-options.ts";

/** With the user's own keys and passwords, by what the address says and in no other way. The name comes last. */
export async function cloneRepository(run: RunGit, { from, folder, signal }: CloneOrder): Promise<void> {
  const { protocols, ...options } = remoteOptions(from);
  if (existsSync(folder)) return checkSame(run, folder, from);
  const draft = `${folder}.new`;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  await run({ folder: parent, configuration: "user" }, ["clone", ...cloneFlags, "--end-of-options", from, draft], {
    ...options,
    protocols: protocols.includes("file") ? protocols : remote,
    writes: true,
    signal,
    about: from,
  });
  await syncFolder(draft);
  await rename(draft, folder);
  await syncFolder(parent);
}

// Many have git use ssh for addresses that say https (`url.….insteadOf`).
const remote = ["https", "ssh"] as const;

const cloneFlags = [
  "--origin=origin",
  "--quiet",
  "--no-progress",
  // Nothing of the templates that people have for their own repositories, where hooks are.
  "--template=",
  "--no-recurse-submodules",
  "--no-shared",
  "--no-local",
];

/** Whoever was interrupted after it was made finds it as it is. */
async function checkSame(run: RunGit, folder: string, from: string): Promise<void> {
  const place = { folder, gitDir: `${folder}/.git`, configuration: "ours" } as const;
  const { stdout } = await run(place, ["config", "--local", "--get", "remote.origin.url"], { accepts: [0, 1, 128] });
  if (stdout.toString("utf8").replace(/\n$/, "") === from) return;
  throw new Fault("git.in-the-way", `${folder} is there already, and is no clone of ${masked(from)}.`, {
    hint: "Choose another name: --name NAME",
  });
}
