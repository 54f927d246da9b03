#!/usr/bin/env node
import module from "node:module";

// The code before the version check must parse in an older Node too: no top-level await, and no import that
// needs more. The build makes one CommonJS file with the agents' fast path in it, because Node starts that fastest.
const minNode = 24;
if (Number.parseInt(process.versions.node, 10) < minNode) {
  process.stderr.write(
    `error: Signalbox needs Node ${minNode} or newer; this is Node ${process.versions.node}.\nInstall it from https://nodejs.org, or run npm run setup in a checkout.\n`,
  );
  process.exitCode = 1;
} else {
  main().catch((error) => {
    process.stderr.write(`error: Signalbox has a bug: ${error?.stack ?? error}\n`);
    process.exitCode = 1;
  });
}

async function main(): Promise<void> {
  const [, , noun, verb] = process.argv;
  const isUpdate = noun === "task" && verb === "update";
  const unfinished = isUpdate ? await (await import("./fast/update.ts")).fastUpdate(process) : {};
  // All output is written: an orderly shutdown of Node would take as long as the request.
  if (unfinished === undefined) process.exit();
  module.enableCompileCache();
  const { start } = await import("./start.ts");
  await start(process, unfinished);
}
