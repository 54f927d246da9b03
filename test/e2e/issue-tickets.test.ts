import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { mergedTickets } from "../merged-tickets.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const token = "ghp_verysecretindeed0123456789";
const script = `roles:
  worker:
    - steps: [{ write: { file: "{id}.txt", text: "one" } }, { commit: "Work on {summary}" }, marker]
`;

test("a crew works through issues on GitHub: a blocked issue waits, and each is closed when its work is in main", async () => {
  const github = await startScriptedGithub({ token });
  const { signalbox, json, repository, git, close } = await startCommands(script, {
    config: `tickets: github\ntickets_label: go\nforge_api_url: ${github.url}\nforge_token_env: BREW_TOKEN\npush_merges: false\n`,
    env: () => ({ BREW_TOKEN: token }),
  });
  try {
    const missing = await signalbox(["ticket", "list"]);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("has no GitHub");
    git(repository, "remote", "add", "origin", "https://github.com/acme/coffee.git");
    expect(await signalbox(["project", "trust", "coffee", "--yes"])).toMatchObject({ code: 0 });
    expect((await signalbox(["ticket", "list"])).stderr).toContain("No issue has the label");

    const issue = { state: "open", body: "", labels: ["go"] } as const;
    github.state.issues.push(
      { ...issue, number: 3, title: "Brew", body: "Strong.\r\n\r\nBlocked by #4" },
      { ...issue, number: 4, title: "Grind", labels: ["go", "P1"] },
      { ...issue, number: 5, title: "Taste", labels: ["go", "in progress"] },
      { ...issue, number: 6, title: "Talk", labels: [] },
    );
    const listed = await eventually(async () => {
      const { stdout } = await signalbox(["ticket", "list"]);
      return stdout === "" ? undefined : stdout;
    });
    expect(listed).toMatch(/^4 +1 +open +– +– +Grind\n3 +2 +open +– +4 +Brew\n5 +2 +in_progress /m);
    expect(listed).not.toContain("Talk");
    expect(await signalbox(["crew", "spawn", "2"])).toMatchObject({ code: 0 });
    expect((await signalbox(["crew", "run"])).code).toBe(0);

    await eventually(async () =>
      github.state.issues.slice(0, 2).every(({ state }) => state === "closed") ? true : undefined,
    );
    const merged = git(repository, ...mergedTickets, "--reverse");
    expect(merged.split("\n").filter(Boolean)).toEqual(["4", "3"]);
    for (const { pull, body } of github.state.comments) {
      const [, commit = ""] = /^Done by coffee#\d \(\w+\), merged into main with (\w{40})\./.exec(body) ?? [];
      expect(git(repository, "branch", "--contains", commit)).toContain("main");
      expect([3, 4]).toContain(pull);
    }
    expect(github.state.comments).toHaveLength(2);
    expect(github.state.issues.slice(2).map(({ state }) => state)).toEqual(["open", "open"]);
    expect((await signalbox(["ticket", "reopen", "5"])).stderr).toContain("Its issue has changed.");
    await eventually(async () => ((await json("ticket", "show", "5")).task === "" ? undefined : true));
  } finally {
    await close();
    await github.close();
  }
});
