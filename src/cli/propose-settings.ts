import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import { findSetupCommand } from "../engine/find-setup-command.ts";
import { findTestCommand } from "../engine/find-test-command.ts";
import { writeConfigValue } from "../home/config-value.ts";
import { makeFolder } from "../home/make-folder.ts";
import { repositoryPlaces } from "../home/places.ts";
import { projectFiles } from "../home/project-files.ts";
import { publishFile } from "../home/publish-file.ts";
import { resolveConfig } from "../home/resolve-config.ts";
import { setConfig } from "../home/set-config.ts";
import { shownPath } from "../home/shown-path.ts";
import { askYes, canAsk } from "./ask.ts";
import { configLayers } from "./config-layers.ts";
import type { Context } from "./context.ts";
import { count } from "./count.ts";
import { shellWord } from "./shell-word.ts";
import { wrapMessage } from "./wrap.ts";

interface Proposal {
  readonly key: "setup" | "test_command" | "copy";
  readonly value: readonly string[];
  readonly why: string;
}

/** Files of which every workspace needs its own copy, and which nobody commits. */
const secrets = /^\.env(\.[\w-]+)*$|^\.envrc$/;

/**
 * Says what a workspace will lack, and proposes how to make one ready, from what is in the repository. On a terminal the
 * person is asked, and a yes is written down and trusted; elsewhere the commands are printed. What is configured stays.
 */
export async function proposeSettings(context: Context, call: Call, project: ProjectView): Promise<void> {
  const ignored = ignoredFiles(project.path);
  if (ignored.length > 0) {
    const shown = ignored.slice(0, 8).join(", ");
    const more = ignored.length > 8 ? ` and ${ignored.length - 8} more` : "";
    context.say(
      wrapMessage(
        `Agents work in folders with what is committed. They lack what git ignores here: ${shown}${more}.`,
        context.columns,
      ),
    );
  }
  const proposals = findProposals(context, project, ignored);
  const file = repositoryPlaces(context.home, project.path)?.config;
  if (proposals.length === 0 || file === undefined) return;
  const width = Math.max(...proposals.map(({ key }) => key.length));
  if (!canAsk()) {
    context.say("To make them ready for work, as found in this repository:");
    for (const { key, value } of proposals)
      context.say(`  signalbox config set ${key} ${shellWord(writeConfigValue(value))} --repository`);
    if (proposals.some(({ key }) => key !== "copy")) context.say("  signalbox trust --config");
    return;
  }
  context.say("Found in this repository, to make them ready for work:");
  for (const { key, value, why } of proposals)
    context.say(`  ${key.padEnd(width)}  ${key === "copy" ? value.join(", ") : value.join(" ")}  (${why})`);
  if (!(await askYes(`Write ${count(proposals.length, "setting")} to ${shownPath(file)}?`, true)))
    return context.say("Nothing is set. To see how it is done by hand: signalbox config set --help");
  const text = proposals.reduce(
    (before, { key, value }) => setConfig(before, key, JSON.stringify(value), "project"),
    textOf(file),
  );
  makeFolder(dirname(file));
  publishFile(file, text);
  await call(routes.trustConfig, { params: { project: project.name }, body: {} });
  context.say(`Wrote ${shownPath(file)}, and trusted it as it is. Commit it for others who work on this repository.`);
}

function findProposals(context: Context, project: ProjectView, ignored: readonly string[]): readonly Proposal[] {
  const { setup, testCommand, copy } = resolveConfig(configLayers(context, project.path, project));
  const files = projectFiles(project.path);
  const install = setup.value.length > 0 ? undefined : findSetupCommand(files);
  const tests = testCommand.value.length > 0 ? undefined : findTestCommand(files);
  const own = copy.value.length > 0 ? [] : ignored.filter((path) => secrets.test(path));
  return [
    ...(install === undefined ? [] : [{ key: "setup" as const, value: install.argv, why: install.from }]),
    ...(tests?.kind === "found"
      ? [{ key: "test_command" as const, value: tests.commands[0].argv, why: tests.commands[0].from }]
      : []),
    ...(own.length === 0 ? [] : [{ key: "copy" as const, value: own, why: "not in git" }]),
  ];
}

/** What git ignores at the root and below, folders as a whole; nothing where git cannot tell. */
function ignoredFiles(root: string): readonly string[] {
  const list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  try {
    const listed = execFileSync("git", ["-C", root, ...list], {
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.split("\0").filter((path) => path !== "" && !path.startsWith(".signalbox/"));
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
