import { spawn } from "node:child_process";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Stage, until } from "../stage.ts";
import { describeTurn, isAlive, killGroup, makeTurn, readTurn, startTurn } from "../turn.ts";

/**
 * The process that started an agent is killed; the agent keeps running, and another process reads how it ended. In a
 * sandbox the agent ends too.
 */
export async function adopt(stage: Stage): Promise<void> {
  const { server, root, harness, isConfined } = stage;
  server.add({ say: "Still there.", delay: 3000 }, ...(isConfined ? [{ say: "Begun." }] : []));
  server.add({ say: "Half", mishap: "hang" }, { say: "Taken up again." });
  const order = stage.order({ prompt: "Go on without us, prompt-1." });
  const { argv, env, input, session } = await harness.prepare(order);
  const [launch, files] = [
    join(root, "launch.json"),
    { output: join(root, "adopt.out"), errors: join(root, "adopt.err") },
  ];
  const noted = {
    argv,
    env,
    input,
    cwd: order.folder,
    ...files,
    inputFile: join(root, "adopt.in"),
    pidFile: join(root, "adopt.pid"),
  };
  writeFileSync(launch, JSON.stringify(noted));
  const parent = spawn(process.execPath, [join(import.meta.dirname, "..", "start-and-wait.mjs"), launch], {
    stdio: ["ignore", openSync(join(root, "parent.out"), "w"), openSync(join(root, "parent.err"), "w")],
  });
  const pid = await until("the agent's start", () =>
    existsSync(noted.pidFile) ? Number(readFileSync(noted.pidFile, "utf8")) : undefined,
  );
  await until("the first question to the model", () => server.arrivals("prompt-1") === 1);
  parent.kill("SIGKILL");
  await until("the agent's end", () => !isAlive(pid));
  const made = readTurn(stage, { files, session }, { ...ended, code: 0 });
  const isWhole = made.error === undefined && made.text.includes("Still there.");
  expect(isWhole !== isConfined, () => describeTurn(made));
  const { session: begun } = isConfined ? await makeTurn(stage, { prompt: "Begin." }) : made;

  const running = await startTurn(stage, {
    prompt: "Never end, prompt-2.",
    session: { kind: "resume", id: begun },
  });
  let hasEnded = false;
  const ending = running.ended.finally(() => {
    hasEnded = true;
  });
  await until("the second prompt", () => hasEnded || server.arrivals("prompt-2") === 1);
  const isAtWork = !hasEnded;
  running.kill("SIGTERM");
  const killed = readTurn(stage, running, await ending);
  killGroup(running.pid, "SIGKILL");
  expect(isAtWork, () => `the session was not resumed: ${describeTurn(killed)}`);
  expect(killed.error !== undefined, () => `a killed turn looks well: ${describeTurn(killed)}`);
  const again = await makeTurn(stage, { prompt: "Go on.", session: { kind: "resume", id: begun } });
  expect(again.text.includes("Taken up again."), () => describeTurn(again));
}

const ended = { kind: "ended", signal: "", cause: "exit", reason: "", at: 0 } as const;
