import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../agents/stage.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { botToken, startTelegram } from "../scripted-telegram.ts";
import { sshTo } from "./forge-scenes.ts";
import { runCommand } from "./person.ts";
import { joins, meets, openTeam, type ScriptedPart, titleOf, writes } from "./team-stage.ts";

const sees = (...ids: readonly string[]) => ids.map((id) => ({ run: ["test", "-f", `${id}.txt`] }));
const parts: readonly ScriptedPart[] = [
  { id: "beans" },
  {
    id: "cup",
    steps: [writes("cup"), { write: { file: "broken.txt", text: "" } }],
    mends: [{ delete: "broken.txt" }],
  },
  { id: "spill", steps: [{ error: { kind: "other", message: "It ran over." } }] },
  ...(["left", "right"] as const).map((id) => ({
    id,
    needs: ["beans"],
    steps: [
      ...sees("beans"),
      meets(id, id === "left" ? "right" : "left"),
      writes(id),
      { write: { file: "recipe.md", text: `${id}\n` } },
    ],
    resolves: joins,
  })),
  { id: "saucer", needs: ["cup"], steps: [...sees("cup"), writes("saucer")] },
  { id: "mop", needs: ["spill"] },
  {
    id: "serve",
    needs: ["left", "right", "saucer"],
    steps: [...sees("beans", "left", "right", "saucer"), writes("serve")],
  },
];

const clarify = [
  { when: { prompt: "Request:", turn: 1 }, steps: [{ answer: { status: "questions", message: "Milk, or none?" } }] },
  {
    when: { prompt: "Request:" },
    steps: [{ answer: { status: "ready", message: "A coffee with milk" } }],
  },
];

test("a team of three builds a plan of eight parts: a question, failing tests, a conflict, a failed part, one pull request", async () => {
  const token = "ghp_verysecretindeed0123456789";
  const [github, telegram] = await Promise.all([startScriptedGithub({ token }), startTelegram()]);
  const stage = await openTeam(parts, {
    clarify,
    poolSize: 3,
    config: [
      'test_command: [sh, -c, "! test -e broken.txt"]',
      `forge_api_url: ${github.url}`,
      "forge_token_env: BREW_TOKEN",
      `chat: { telegram: { chats: [5], address: "${telegram.address}", token_env: BOT_TOKEN } }`,
      "",
    ].join("\n"),
    env: (base) => ({ BREW_TOKEN: token, BOT_TOKEN: botToken, GIT_SSH_COMMAND: sshTo(base) }),
  });
  onTestFinished(async () => {
    await stage.close();
    await Promise.all([github.close(), telegram.close()]);
  });
  const { base, repository, git } = stage;
  const remote = join(base, "acme", "coffee.git");
  const tip = (branch: string) => git(remote, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`);
  git(repository, "clone", "--quiet", "--bare", repository, remote);
  git(repository, "remote", "add", "origin", "git@github.com:acme/coffee.git");
  Object.assign(github.state.branches, { has: (branch: string) => tip(branch) !== "", get: tip });
  const signalbox = (...args: readonly string[]) => runCommand(repository, { ...stage.home.env, NO_COLOR: "1" }, args);
  expect(await signalbox("project", "trust", "coffee", "--yes")).toMatchObject({ code: 0 });

  // Without a terminal the command leaves where a person is asked, and comes back with --resume.
  const asked = await signalbox("run", "Make coffee", "--agents", "3", "--json");
  expect(asked).toMatchObject({ code: 5 });
  const { task, questions } = JSON.parse(asked.stdout);
  expect(questions).toMatchObject([{ text: "Milk, or none?" }]);
  const answer = async (question: string, text: string) => {
    const { id } = await eventually(async () => telegram.sent.find((each) => each.text.includes(question)));
    telegram.say({ chat: "5", text, replyTo: id });
  };
  await answer("Milk, or none?", "With milk");
  await answer("A coffee with milk", "yes");
  let again = asked;
  const ran = await eventually(
    async () => {
      again = await signalbox("run", "--resume", task.id, "--json");
      return again.code === 5 ? undefined : again;
    },
    180_000,
    async () => `${again.stdout}\n${(await signalbox("task", "explain", task.id)).stdout}`,
  );
  expect(ran).toMatchObject({ code: 7 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ end: "partly-done", pullRequest: { number: 1 } });
  const end = await stage.ends(task.id);
  expect(end).toMatchObject({ status: "COMPLETED", held: null });

  const children = await stage.children(task.id);
  const states = children.map(({ summary, status }) => `${summary} ${status}`).sort();
  const done = ["beans", "cup", "left", "right", "saucer", "serve"].map((id) => `${titleOf(id)} SUBTASK_DONE`);
  const spilled = `${titleOf("spill")} SUBTASK_FAILED`;
  expect(states).toEqual([...done, spilled, spilled, `${titleOf("mop")} SUBTASK_CANCELLED`].sort());

  const heard = async (id: string) => {
    const child = children.find(({ summary }) => summary === titleOf(id));
    return stage.prompts(child?.id ?? "");
  };
  const implementing = (texts: readonly string[]) => texts.filter((text) => text.includes("Whole requirement:"));
  // A dependent finds what it needs in its first turn: another turn would be needed otherwise.
  for (const id of ["left", "right", "saucer", "serve"])
    expect([id, implementing(await heard(id)).length]).toEqual([id, 1]);
  expect(implementing(await heard("serve"))[0]).toContain("A coffee with milk");
  expect((await heard("cup")).filter((text) => text.startsWith("Work these in"))).toHaveLength(1);
  const joined = (await Promise.all(["left", "right"].map(heard)))
    .flat()
    .filter((text) => text.includes("did not work:"));
  expect(joined).toHaveLength(1);
  expect(joined[0]).toContain("recipe.md");

  expect(github.state.pulls).toHaveLength(1);
  const [pull] = github.state.pulls;
  expect(end.prUrl).toBe("https://github.com/acme/coffee/pull/1");
  expect(pull).toMatchObject({ head: end.branch, base: "main" });
  for (const id of ["beans", "cup", "left", "right", "saucer", "serve"])
    expect(pull?.body).toContain(`| ${titleOf(id)} | done |`);
  expect(pull?.body).toMatch(/\| Part spill \| failed \| .*It ran over\./);
  expect(pull?.body).toMatch(/\| Part mop \| skipped \| .*"spill"/);
  expect(git(remote, "for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n").sort()).toEqual(
    ["main", end.branch].sort(),
  );
  expect(git(remote, "show", `${end.branch}:recipe.md`)).toBe("left and right");
  expect(git(remote, "ls-tree", "--name-only", end.branch).split("\n")).toEqual([
    "beans.txt",
    "cup.txt",
    "left.txt",
    "recipe.md",
    "right.txt",
    "saucer.txt",
    "serve.txt",
  ]);
  expect(await stage.runs()).toEqual([]);
  expect([end, ...children].filter(({ workspace }) => workspace !== "")).toEqual([]);
});
