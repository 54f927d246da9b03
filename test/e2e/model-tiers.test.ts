import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

const flow = `name: flow
version: 1
settings:
  models: { default: { default: large, second: small } }
roles:
  worker: { mode: turn, prompt: work, model: "{models}" }
states:
  todo: { waits_for: human, ask: Start, next: first }
  first: { agent: { role: worker }, outcomes: [{ then: second }] }
  second: { agent: { role: worker }, outcomes: [{ then: done }] }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: first, by: human, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
prompts: { work: "Work on {summary}." }
`;
const parrot = `harness: parrot
workflow: flow
harnesses:
  parrot: { title: The Parrot, turn: { argv: [sh, -c, 'cat >/dev/null; echo "asked for <$1>"', sh, "{model}"] } }
`;

test("a tier reaches the program as the model that it is mapped to; a tier without a model is refused at creation", async () => {
  const {
    signalbox,
    json,
    until,
    events,
    places,
    call: _,
    ...stage
  } = await startCommands(undefined, {
    ...{ flow, config: parrot, harness: "parrot" },
  });
  const refused = await signalbox(["task", "create", "Brew it"]);
  expect(refused.code).toBe(1);
  for (const tier of ["large", "small"])
    expect(refused.stderr).toContain(
      `The model tier "${tier}" is not mapped to a model of The Parrot (model_tiers.${tier}.parrot).\n  To map it: signalbox config set model_tiers.${tier}.parrot MODEL`,
    );
  expect((await json("task", "list")).tasks).toEqual([]);

  // What a repository's file says has no effect until a person trusts it.
  const own = join(stage.repository, ".signalbox", "config.yml");
  mkdirSync(join(stage.repository, ".signalbox"), { recursive: true });
  writeFileSync(own, "model_tiers: { large: { parrot: theirs }, small: { parrot: theirs } }\n");
  const untrusted = await signalbox(["task", "create", "Brew it"]);
  expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining("is not mapped to a model") });
  expect((await signalbox(["trust", "--config"])).code).toBe(0);
  expect((await signalbox(["config", "get", "model_tiers.large.parrot"])).stdout).toBe("theirs\n");

  expect((await signalbox(["config", "set", "model_tiers.small.parrot", "tiny"])).code).toBe(0);
  const id = (await json("task", "create", "Brew it")).task.id as string;
  // The task starts with a mapping that is gone when its second run begins.
  writeFileSync(own, "model_tiers: { large: { parrot: theirs } }\n");
  expect((await signalbox(["trust", "--config"])).code).toBe(0);
  await signalbox(["task", "continue", id]);
  await until(id, ({ status }) => status === "done");
  const models = (await events(id)).flatMap(({ type, data }) =>
    type === "agent.started" ? [[data.tier, data.model]] : [],
  );
  expect(models).toEqual([
    ["large", "theirs"],
    ["small", "tiny"],
  ]);
  const said = (name: string) => readFileSync(join(places.runs, name, "output"), "utf8");
  expect([said(`${id}-1`), said(`${id}-2`)]).toEqual(["asked for <theirs>\n", "asked for <tiny>\n"]);
});

test("a running task whose tier loses its model is held with the command, and continues when the tier has one", async () => {
  const mapped = `${parrot}model_tiers: { large: { parrot: big }, small: { parrot: tiny } }\n`;
  const { signalbox, json, until, places } = await startCommands(undefined, {
    ...{ flow, config: mapped, harness: "parrot" },
  });
  const id = (await json("task", "create", "Brew it")).task.id as string;
  const text = readFileSync(places.config, "utf8");
  writeFileSync(places.config, text.replace(", small: { parrot: tiny }", ""));
  await vi.waitFor(async () => expect((await signalbox(["config", "get", "model_tiers.small.parrot"])).code).toBe(2));
  await signalbox(["task", "continue", id]);
  const held = await until(id, ({ held }) => held !== null);
  expect(held.status).toBe("second");
  expect(JSON.stringify(held.held)).toContain("is not mapped to a model of The Parrot");
  const explained = await signalbox(["task", "explain", id]);
  expect(explained.stdout).toContain("signalbox config set model_tiers.small.parrot MODEL");
  expect((await signalbox(["config", "set", "model_tiers.small.parrot", "tiny"])).code).toBe(0);
  await until(id, ({ status }) => status === "done");
});

test("models of a running task are changed for the runs to come, and a tier without a model is refused", async () => {
  const mapped = `${parrot}model_tiers: { large: { parrot: big }, small: { parrot: tiny }, huge: { claude: opus } }\n`;
  const { signalbox, json, until, events } = await startCommands(undefined, {
    ...{ flow, config: mapped, harness: "parrot" },
  });
  const id = (await json("task", "create", "Brew it", "--no-spawn")).task.id as string;
  const refused = await signalbox(["task", "update", id, "--set", "models=default:small,second:huge"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("To map it: signalbox config set model_tiers.huge.parrot MODEL"),
  });
  const slips = [
    ["models=third:small", 'names "third", but the workflow has no such state'],
    ["models=small", 'The setting "models" must be a map, but is text.'],
    ["model=small", 'There is no setting "model".'],
    ["models", "Write --set NAME=VALUE."],
  ] as const;
  for (const [set, told] of slips) {
    const slip = await signalbox(["task", "update", id, "--set", set]);
    expect(slip.code).not.toBe(0);
    expect(slip.stderr).toContain(told);
  }
  expect((await signalbox(["task", "update", id, "--set", "models=default:small,second:large"])).stderr).toContain(
    "Changed: settings.",
  );
  await signalbox(["task", "continue", id]);
  await until(id, ({ status }) => status === "done");
  const seen = await events(id);
  expect(seen.flatMap(({ type, data }) => (type === "agent.started" ? [data.model] : []))).toEqual(["tiny", "big"]);
  expect(seen.flatMap(({ type, data }) => (type === "task.edited" ? [data.changed] : []))).toContainEqual(["settings"]);
});

test("config set refuses a tier for an unknown harness, and doctor shows what the tiers stand for", async () => {
  const { signalbox } = await startCommands(undefined, { flow, config: parrot, harness: "parrot" });
  const slip = await signalbox(["config", "set", "model_tiers.large.parot", "big"]);
  expect(slip).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "parrot"?') });
  expect((await signalbox(["config", "get", "model_tiers.large.parrot"])).code).toBe(2);
  expect((await signalbox(["config", "set", "model_tiers.large.parrot", "big"])).code).toBe(0);
  expect((await signalbox(["config", "get", "model_tiers.large.parrot"])).stdout).toBe("big\n");
  expect((await signalbox(["doctor"])).stdout).toContain("large: claude opus, codex gpt-5.5");
});

test("a preset of the configuration gives a task its settings, is checked like the file's, and needs trust in a repository", async () => {
  const mapped = `${parrot}model_tiers: { large: { parrot: big }, small: { parrot: tiny } }\n`;
  const presets =
    "presets: { flow: { thrifty: { models: { default: small } }, wrong: { models: 3 }, odd: { rounds: 3 } } }\n";
  const { signalbox, json, until, events, ...stage } = await startCommands(undefined, {
    ...{ flow, config: mapped + presets, harness: "parrot" },
  });
  const refusals = [
    ["thrifyt", 'There is no preset "thrifyt".\nPresets: thrifty, wrong, odd.'],
    ["wrong", 'The setting "models" must be a map, but is a number.'],
    ["odd", 'There is no setting "rounds".'],
  ] as const;
  for (const [preset, told] of refusals) {
    const refused = await signalbox(["task", "create", "Brew it", "--preset", preset]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(told) });
  }
  expect((await json("task", "list")).tasks).toEqual([]);
  const doctor = await signalbox(["doctor"]);
  expect(doctor.stdout).toContain('presets.flow.wrong: The setting "models" must be a map, but is a number.');
  expect(doctor.stdout).toContain('presets.flow.odd: There is no setting "rounds".');

  const asked = async (...flags: readonly string[]) => {
    const id = (await json("task", "create", "Brew it", "--no-spawn", ...flags)).task.id as string;
    return {
      id,
      async models() {
        await signalbox(["task", "continue", id]);
        await until(id, ({ status }) => status === "done");
        return (await events(id)).flatMap(({ type, data }) => (type === "agent.started" ? [data.model] : []));
      },
    };
  };
  expect(await (await asked("--preset", "thrifty")).models()).toEqual(["tiny", "tiny"]);
  const own = await asked("--preset", "thrifty", "--set", "models=default:large");
  expect(await own.models()).toEqual(["big", "big"]);
  const changed = await asked();
  expect((await signalbox(["task", "update", changed.id, "--preset", "thrifty"])).code).toBe(0);
  expect(await changed.models()).toEqual(["tiny", "tiny"]);

  mkdirSync(join(stage.repository, ".signalbox"), { recursive: true });
  writeFileSync(
    join(stage.repository, ".signalbox", "config.yml"),
    "presets: { flow: { theirs: { models: { default: large } } } }\n",
  );
  expect((await signalbox(["task", "create", "Brew it", "--preset", "theirs"])).stderr).toContain(
    'There is no preset "theirs".',
  );
  expect((await signalbox(["trust", "--config"])).code).toBe(0);
  expect((await signalbox(["task", "create", "Brew it", "--preset", "theirs", "--no-spawn"])).code).toBe(0);
});
