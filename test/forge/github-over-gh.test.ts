import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { ghTransport } from "../../src/adapters/forge/github/gh-transport.ts";
import { removeFolder } from "../remove-folder.ts";
import { githubContract, token } from "./github-contract.ts";
import { placeGh } from "./place-gh.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-gh-"));
afterAll(() => removeFolder(folder));

// Every request starts a program, which takes its time.
githubContract({
  name: "gh",
  isBrief: true,
  open: (url, timeout) => {
    const { env } = placeGh(folder, url, token);
    return ghTransport({ host: "github.com", env: { ...env, GH_TOKEN: token }, timeout });
  },
});
