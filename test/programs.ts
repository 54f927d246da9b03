import { join } from "node:path";
import { root } from "./documents.ts";

/** Set by `build-programs.ts`; without vitest, programs run from the sources. */
const built = process.env.SIGNALBOX_BUILT;

/** The command line, for node. */
export const cliFile = built === undefined ? join(root, "src/cli/main.ts") : join(built, "dist/cli.cjs");
/** The daemon, for node. */
export const appFile = built === undefined ? join(root, "src/app.ts") : join(built, "dist/app.cjs");
/** The scripted agent, for node. */
export const scriptedAgentFile =
  built === undefined ? join(root, "src/scripted-agent/main.ts") : join(built, "dist/scripted-agent.cjs");
/** The command line, as people call it. */
export const launcher = join(built ?? root, "bin/signalbox");
