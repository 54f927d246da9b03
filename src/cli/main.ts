#!/usr/bin/env node
import module from "node:module";

// What runs before the version is known must be read by an older Node too: no top-level await, nothing imported that
// needs more. Built, this file is one CommonJS file with the agents' fast way in it, because Node starts those soonest.
const oldest = 24;
if (Number.parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(
    `error: Signalbox needs Node ${oldest} or newer; this is Node ${process.versions.node}.\nInstall it from https://nodejs.org, or run npm run setup in a checkout.\n`,
  );
  process.exitCode = 1;
} else {
  main().catch((error) => {
    process.stderr.write(`error: Signalbox made a mistake of its own: ${error?.stack ?? error}\n`);
    process.exitCode = 1;
  });
}

async function main(): Promise<void> {
  const [, , noun, verb] = process.argv;
  const isUpdate = noun === "task" && verb === "update";
  // Everything has been said: taking Node apart in good order would take as long as asking did.
  if (isUpdate && (await (await import("./fast-update.ts")).fastUpdate(process))) process.exit();
  module.enableCompileCache();
  const { start } = await import("./start.ts");
  await start(process);
}
