import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { routes } from "../../src/api/routes.ts";
import type { Daemon } from "./daemon.ts";
import type { Home } from "./home.ts";

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Sends all requests together, over open connections: the daemon accepts new connections one by one, and would have
 * answered the first request before it received the last. Returns the status of each answer.
 */
export async function burst(home: Home, daemon: Daemon, questions: readonly Question[]): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: questions.length });
  const authorization = `Bearer ${readFileSync(home.places.humanToken, "utf8").trim()}`;
  const send = ({ method, path, body }: Question) => {
    const headers = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const asked = request({ socketPath: home.places.socket, agent, method, path, headers });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    return asked;
  };
  try {
    await Promise.all(questions.map(() => answerOf(send({ method: "GET", path: routes.status.path }))));
    daemon.child.kill("SIGSTOP");
    const asked = questions.map(send);
    const answers = asked.map(answerOf);
    await Promise.all(asked.map((each) => each.writableFinished || once(each, "finish")));
    daemon.child.kill("SIGCONT");
    return await Promise.all(answers);
  } finally {
    daemon.child.kill("SIGCONT");
    agent.destroy();
  }
}

async function answerOf(asked: ClientRequest): Promise<number> {
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}
