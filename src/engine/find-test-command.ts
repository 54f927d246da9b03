import { cargoTests } from "./test-command/cargo-tests.ts";
import { composerScript } from "./test-command/composer-script.ts";
import { ctestPresets } from "./test-command/ctest-presets.ts";
import { denoTask } from "./test-command/deno-task.ts";
import { dotnetTests } from "./test-command/dotnet-tests.ts";
import { goTests } from "./test-command/go-tests.ts";
import { gradleTests } from "./test-command/gradle-tests.ts";
import { justRecipe } from "./test-command/just-recipe.ts";
import { makeTarget } from "./test-command/make-target.ts";
import { mavenTests } from "./test-command/maven-tests.ts";
import { mixTests } from "./test-command/mix-tests.ts";
import { ownScript } from "./test-command/own-script.ts";
import { packageScript } from "./test-command/package-script.ts";
import { phpunitTests } from "./test-command/phpunit-tests.ts";
import type { Finder, ProjectFiles, TestCommand } from "./test-command/project-files.ts";
import { configuredPytest, pytestFiles } from "./test-command/pytest.ts";
import { railsTests } from "./test-command/rails-tests.ts";
import { rakeTask } from "./test-command/rake-task.ts";
import { rspecTests } from "./test-command/rspec-tests.ts";
import { workspaceScripts } from "./test-command/workspace-scripts.ts";

export type TestCommandSearch =
  | {
      readonly kind: "found";
      /** The best first. */
      readonly commands: readonly [TestCommand, ...TestCommand[]];
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "none";
      /** What was there but could not be read, as sentences. */
      readonly notes: readonly string[];
    };

/** Works out from a project's files how its tests are run. Whatever is in them: it finds a command or none. */
export function findTestCommand(files: ProjectFiles): TestCommandSearch {
  const notes = new Set<string>();
  const all = finders.flatMap((find) => find(files, (sentence) => notes.add(sentence)) ?? []);
  const [best, ...others] = all.filter(
    ({ argv }, index) => all.findIndex((each) => each.argv.join("\0") === argv.join("\0")) === index,
  );
  if (best === undefined) return { kind: "none", notes: [...notes] };
  return { kind: "found", commands: [best, ...others], notes: [...notes] };
}

const finders: readonly Finder[] = [
  // What the project wrote down itself comes before what its language usually does, and who calls before who is called:
  // a Makefile often runs npm besides other things, while a package.json that runs make means the same as the Makefile.
  ownScript,
  justRecipe,
  makeTarget,
  packageScript,
  denoTask,
  composerScript,
  rakeTask,
  workspaceScripts,
  // A configured runner says that there are tests; a Cargo.toml says only that there is Rust.
  configuredPytest,
  rspecTests,
  phpunitTests,
  ctestPresets,
  railsTests,
  cargoTests,
  goTests,
  mavenTests,
  gradleTests,
  dotnetTests,
  mixTests,
  pytestFiles,
];
