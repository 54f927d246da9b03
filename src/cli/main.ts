#!/usr/bin/env node
import module from "node:module";

// Nothing else may be imported statically: an older Node must get as far as the message.
const oldest = 24;
if (Number.parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(
    `error: Signalbox needs Node ${oldest} or newer; this is Node ${process.versions.node}.\nInstall it from https://nodejs.org, or run npm run setup in a checkout.\n`,
  );
  process.exitCode = 1;
} else {
  module.enableCompileCache();
  const { start } = await import("./start.ts");
  await start(process);
}
