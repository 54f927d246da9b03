import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../documents.ts";
import { expect, type Stage } from "../stage.ts";

const call = promisify(execFile);

/** As in a person's own terminal, without the daemon. */
export async function knowsSkill(stage: Stage): Promise<void> {
  const { candidate, server, path, folder } = stage;
  const { SIGNALBOX_TOKEN: _token, SIGNALBOX_EVENTS: _events, ...env } = stage.order({}).env;
  const ask = async () => {
    server.add({ say: "Hello." });
    const before = server.requests.length;
    const options = { cwd: folder, env, timeout: 120_000, maxBuffer: 2 ** 26 };
    const { stdout } = await call(path, candidate.skills ?? [], options);
    const told = server.requests.slice(before).map(({ body }) => JSON.stringify(body));
    return [stdout, ...told].some((text) => text.includes("Hand coding work to agents through Signalbox"));
  };
  expect(!(await ask()), () => "it knows the skill before it is installed");
  const main = join(root, "src/cli/main.ts");
  await call(process.execPath, [main, "install", "--harness", candidate.program], { cwd: folder, env });
  expect(await ask(), () => "it does not know the skill");
}
