import { join } from "node:path";
import { packageRoot } from "../../home/package-root.ts";

/** Our own programs: sources beside sources, bundles beside bundles. */
export function ownFile(name: OwnProgram): string {
  const { source, bundle } = files[name];
  const isSource = import.meta.filename.endsWith(".ts");
  return join(packageRoot(), isSource ? join("src", source) : join("dist", bundle));
}

/** How they are run. Agents and people see what they print. */
export function ownProgram(name: OwnProgram): readonly string[] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", ownFile(name)];
}

type OwnProgram = keyof typeof files;

const files = {
  supervisor: { source: "adapters/processes/supervisor.ts", bundle: "supervisor.cjs" },
  launcher: { source: "adapters/terminal/tmux/launch.ts", bundle: "launcher.cjs" },
  "acp-bridge": { source: "adapters/harness/acp/bridge.ts", bundle: "acp-bridge.cjs" },
  "scripted-agent": { source: "testing/scripted-agent.ts", bundle: "scripted-agent.cjs" },
};
