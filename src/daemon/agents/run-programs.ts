import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { publishFile } from "../../durable-file.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { type Places, packageRoot } from "../../home/places.ts";
import { shellQuote } from "../../shell-quote.ts";

/** The path of one of Signalbox's own programs: a source beside sources, a bundle beside bundles. */
export function ownFile(name: OwnProgram): string {
  const { source, bundle } = files[name];
  const isSource = import.meta.filename.endsWith(".ts");
  return join(packageRoot(), isSource ? join("src", source) : join("dist", bundle));
}

/** The command line of such a program. Agents and people see its output. */
export function ownProgram(name: OwnProgram): readonly string[] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", ownFile(name)];
}

type OwnProgram = keyof typeof files;

const files = {
  supervisor: { source: "adapters/processes/supervisor.ts", bundle: "supervisor.cjs" },
  gate: { source: "adapters/sandbox/gate.ts", bundle: "gate.cjs" },
  launcher: { source: "adapters/tmux/launch.ts", bundle: "launcher.cjs" },
  "acp-bridge": { source: "adapters/harness/acp/bridge.ts", bundle: "acp-bridge.cjs" },
  "verify-thread": { source: "daemon/verify-thread.ts", bundle: "verify-thread.cjs" },
  "scripted-agent": { source: "scripted-agent/main.ts", bundle: "scripted-agent.cjs" },
};

/**
 * Writes the programs that agents call into the folder that is first on their PATH: the command line under all its
 * names, and the hook.
 */
export function placeRunPrograms(places: Places, aliases: readonly string[]): void {
  makePrivateFolder(places.bin);
  const wanted = new Map([
    ["signalbox", launcherText()],
    ...aliases.map((alias) => [alias, launcherText()] as const),
    ["signalbox-hook", hookText],
  ]);
  for (const name of readdirSync(places.bin)) if (!wanted.has(name)) rmSync(join(places.bin, name), { force: true });
  for (const [name, text] of wanted) {
    const file = join(places.bin, name);
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) publishFile(file, text, { mode: 0o700 });
    chmodSync(file, 0o700);
  }
}

/** The command that a harness runs for each of its events: it appends a line to the run's events file. */
export function hookCommand(places: Places, events: string): readonly string[] {
  return [join(places.bin, "signalbox-hook"), events];
}

function launcherText(): string {
  const root = packageRoot();
  const bundle = join(root, "dist", "cli.cjs");
  const isSource = import.meta.filename.endsWith(".ts");
  const file = isSource ? join(root, "src", "cli", "main.ts") : bundle;
  return `#!/bin/sh\nexec ${shellQuote([process.execPath, file])} "$@"\n`;
}

// A shell starts ten times faster than Node, and harnesses wait for their hooks. The lock serialises writers: a line
// longer than a buffer is written in pieces, which would mix.
const hookText = `#!/bin/sh
# Adds one line to the events of a run: the JSON text that a harness gives as the last argument, or on standard input.
umask 077
events=$1
shift
if [ $# -gt 0 ]; then
  for last in "$@"; do :; done
  line=$(printf '%s' "$last" | tr '\\n' ' ')
else
  line=$(tr '\\n' ' ')
fi
tries=0
until mkdir "$events.lock" 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -gt 200 ] && break
  sleep 0.01
done
printf '%s\\n' "$line" >>"$events"
rmdir "$events.lock" 2>/dev/null
exit 0
`;
