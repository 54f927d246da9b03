import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import type { Candidate } from "./candidate.ts";
import { candidate as acpGemini } from "./candidates/acp-gemini.ts";
import { candidate as claude } from "./candidates/claude.ts";
import { candidate as codex } from "./candidates/codex.ts";
import { candidate as gemini } from "./candidates/gemini.ts";
import { candidate as opencode } from "./candidates/opencode.ts";
import { openStage } from "./stage.ts";
import { makeTurn } from "./turn.ts";

const { works } = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();

/** How programs write a file again. `$1` is the file. */
const ways = {
  "in place": 'printf fresh >"$1"',
  "by renaming": 'printf fresh >"$1.$$" && mv "$1.$$" "$1"',
} as const;

interface Home {
  /** The folder of the program's files in the user's home. */
  readonly folder: string;
  /** Logins, and how they can be written. The tested versions of Codex and Gemini CLI write theirs in place. */
  readonly logins: readonly string[];
  readonly written: readonly (keyof typeof ways)[];
  /** What every session of the user obeys. */
  readonly obeyed: readonly string[];
}

const both = ["in place", "by renaming"] as const;
const homes: readonly (readonly [Candidate, Home])[] = [
  [
    claude,
    { folder: ".claude", logins: [".credentials.json"], written: both, obeyed: ["settings.json", "skills/mine.md"] },
  ],
  [
    codex,
    {
      folder: ".codex",
      logins: ["auth.json", ".credentials.json"],
      written: ["in place"],
      obeyed: ["config.toml", "skills/mine.md"],
    },
  ],
  [
    gemini,
    {
      folder: ".gemini",
      logins: ["oauth_creds.json", "gemini-credentials.json", "google_accounts.json", "mcp-oauth-tokens.json"],
      written: ["in place"],
      obeyed: ["GEMINI.md", "extensions/mine.json"],
    },
  ],
  [
    opencode,
    {
      folder: ".local/share/opencode",
      logins: ["auth.json", "mcp-auth.json"],
      written: both,
      obeyed: ["../../../.config/opencode/opencode.json", "bin/server"],
    },
  ],
];

interface Instead {
  /** The folder of the program's files in the user's home. */
  readonly folder: string;
  /** Files in it. */
  readonly files: readonly string[];
  /** The program, as lines of shell that run in the folder. */
  readonly lines: readonly string[];
  /** What else is in the user's home. */
  seed?(home: string): void;
  env?(home: string): Readonly<Record<string, string>>;
  /** Looks at the user's home afterwards. */
  look?(home: string): string;
}

/** Runs a turn of a harness, in a sandbox where one can be made, with a few lines of shell instead of its program. */
async function runInstead(candidate: Candidate, { folder, files, lines, seed, env, look }: Instead) {
  const standIn = (home: string) => join(dirname(home), "bin", "stand-in");
  const ofUser: Candidate = {
    ...candidate,
    env: env ?? (() => ({})),
    harness: (home) => candidate.harness(home, standIn(home)),
    seed(home) {
      for (const file of files) put(join(home, folder, file), "old");
      seed?.(home);
    },
  };
  const stage = await openStage(ofUser, "", works);
  try {
    const home = join(stage.root, "home");
    // Gemini CLI has a home for each run, with links to the user's files.
    const begin = ["#!/bin/sh", "exec 2>&1", 'test -z "$GEMINI_CLI_HOME" || HOME="$GEMINI_CLI_HOME"'];
    const script = [...begin, `cd "$HOME/${folder}"`, ...lines];
    writeFileSync(standIn(home), `${script.join("\n")}\n`, { mode: 0o755 });
    const { output, errors } = await makeTurn(stage, {});
    const texts = files.map((file) => [file, readFileSync(join(home, folder, file), "utf8")]);
    return { said: output + errors, texts: look === undefined ? texts : [...texts, ["seen", look(home)]] };
  } finally {
    await stage.close();
  }
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

for (const [candidate, { folder, logins, written, obeyed }] of homes) {
  for (const way of written) {
    test(`${candidate.program}: a login that the program refreshes ${way} reaches the user's own file`, async () => {
      const lines = logins.map((file) => `set -- ${file}; ${ways[way]}`);
      const { said, texts } = await runInstead(candidate, { folder, files: logins, lines });
      expect({ said, texts }).toEqual({ said: "", texts: logins.map((file) => [file, "fresh"]) });
    });
  }

  test.runIf(works)(`${candidate.program}: an agent cannot change what the user's other sessions obey`, async () => {
    const lines = obeyed.flatMap((file) => Object.values(ways).map((way) => `set -- ${file}; ${way}`));
    const { texts } = await runInstead(candidate, { folder, files: obeyed, lines });
    expect(texts).toEqual(obeyed.map((file) => [file, "old"]));
  });
}

test("a lock that a killed Claude Code has left does not keep an agent from refreshing the login", async () => {
  const [lock, owner] = [".oauth_refresh.lock", ".oauth_refresh.lock.owner"];
  const { said, texts } = await runInstead(claude, {
    folder: ".claude",
    files: [owner],
    lines: [`rmdir ${lock} && mkdir ${lock} && set -- ${owner} && ${ways["by renaming"]}`],
    seed: (home) => mkdirSync(join(home, ".claude", lock)),
  });
  expect({ said, texts }).toEqual({ said: "", texts: [[owner, "fresh"]] });
});

/** Many people keep their settings in a repository, with links to them. */
const linked: readonly (readonly [Candidate, string, readonly string[]])[] = [
  [claude, ".claude", ["CLAUDE.md", "settings.json", "commands"]],
  [codex, ".codex", ["AGENTS.md", "config.toml", "auth.json", "prompts"]],
  [gemini, ".gemini", ["GEMINI.md", "oauth_creds.json", "commands"]],
  [opencode, ".config/opencode", ["opencode.json", "command"]],
];
for (const [candidate, folder, names] of linked)
  test(`${candidate.program}: an agent finds settings that are links to files elsewhere in the user's home`, async () => {
    const { said } = await runInstead(candidate, {
      ...{
        folder,
        files: [],
        lines: [`cat ${names.map((name) => (/\./.test(name) ? name : `${name}/mine.md`)).join(" ")}`],
      },
      seed(home) {
        mkdirSync(join(home, folder), { recursive: true });
        for (const name of names) {
          const file = join(home, "dotfiles", name);
          put(/\./.test(name) ? file : join(file, "mine.md"), `${name}\n`);
          symlinkSync(file, join(home, folder, name));
        }
      },
    });
    expect(said).toBe(names.map((name) => `${name}\n`).join(""));
  });

test.runIf(works)(
  "claude: an agent cannot replace a link to the user's settings, and refreshes the login all the same",
  async () => {
    const lines = [
      "ln -sf /dev/null settings.json; rm -f settings.json; printf '{}' >settings.json",
      `set -- .credentials.json; ${ways["in place"]}`,
    ];
    const { texts } = await runInstead(claude, {
      ...{ folder: ".claude", files: [".credentials.json"], lines },
      seed(home) {
        put(join(home, "dotfiles", "settings.json"), "old");
        symlinkSync(join(home, "dotfiles", "settings.json"), join(home, ".claude", "settings.json"));
      },
      look: (home) => readFileSync(join(home, ".claude", "settings.json"), "utf8"),
    });
    expect(texts).toEqual([
      [".credentials.json", "fresh"],
      ["seen", "old"],
    ]);
  },
);

test("gemini: an agent that speaks ACP uses the user's folder, and can replace its list of projects there", async () => {
  const { texts } = await runInstead(acpGemini, {
    ...{ folder: ".gemini", files: ["oauth_creds.json"] },
    lines: [`set -- projects.json; ${ways["by renaming"]} && set -- oauth_creds.json && ${ways["in place"]}`],
    seed: (home) => put(join(home, ".gemini", "projects.json"), "old"),
  });
  expect(texts).toEqual([["oauth_creds.json", "fresh"]]);
});
