import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { packageRoot } from "../../home/package-root.ts";
import type { Places } from "../../home/places.ts";
import { publishFile } from "../../home/publish-file.ts";

/** Puts what agents call into the folder that is first on their PATH: the command line under all its names, and the hook. */
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

/** What a harness runs whenever something happens: it adds a line to the run's events. */
export function hookCommand(places: Places, events: string): readonly string[] {
  return [join(places.bin, "signalbox-hook"), events];
}

function launcherText(): string {
  const root = packageRoot();
  const bundle = join(root, "dist", "cli.cjs");
  const isSource = import.meta.filename.endsWith(".ts");
  const file = isSource ? join(root, "src", "cli", "main.ts") : bundle;
  return `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(file)} "$@"\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// A shell starts in a tenth of the time that Node takes, and harnesses wait for their hooks. One at a time: what is longer
// than a buffer is written in pieces, and two at once would mix theirs.
const hookText = `#!/bin/sh
# Adds one line to the events of a run: the JSON text that a harness gives as the last argument, or on standard input.
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
