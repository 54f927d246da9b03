import type { ProjectFiles } from "./finders.ts";
import { globOf } from "./glob.ts";
import { partialFile } from "./protected-parts.ts";
import { type TestSources, testSources } from "./test-sources.ts";

/** A change to something that decides about work, which a person must see. */
export interface ProtectedChange {
  readonly path: string;
  /** What it is, as a noun: `CI`, `the scripts that run the tests`. */
  readonly what: string;
  /**
   * The content for tests as the base has them. A text: the work's file with the base's part. Undefined: the base's
   * file, or none if the base has none.
   */
  readonly restored: string | undefined;
}

export interface Judged {
  /** The files of the base commit. */
  readonly base: ProjectFiles;
  /** The files of the work's commit. */
  readonly work: ProjectFiles;
  /** The paths that differ between the two; of a renamed file both names. */
  readonly changed: readonly string[];
  /** The commands that test the work. */
  readonly commands: readonly (readonly string[])[];
  /** The patterns under `protect` in the configuration. */
  readonly protect: readonly string[];
}

/** Which of the things that decide about work the work itself has changed, in the order of their paths. */
export function protectedChanges({ base, work, changed, commands, protect }: Judged): readonly ProtectedChange[] {
  const sources = testSources(commands, base);
  const isNamed = protect.map(globOf);
  return [...new Set(changed)].sort().flatMap((path) => {
    const whole = isNamed.some((glob) => glob.test(path)) ? 'protected by "protect"' : wholeFile(path, sources);
    if (whole !== undefined) return [{ path, what: whole, restored: undefined }];
    const partial = partialFile(path, sources);
    const [before, now] = [base.read(path), work.read(path)];
    if (partial === undefined || partial.partOf(before) === partial.partOf(now)) return [];
    return [{ path, what: partial.what, restored: partial.restore(before, now) }];
  });
}

/** What a file decides as a whole; undefined if it decides nothing. */
function wholeFile(path: string, sources: TestSources): string | undefined {
  if (path.startsWith(".signalbox/")) return "workflows and settings of Signalbox";
  if (ci.some((glob) => glob.test(path))) return "CI";
  if (sources.files.has(path)) return "the script that runs the tests";
  if (sources.modules.has(path)) return "the module that runs the tests";
  if (settings.some((glob) => glob.test(path))) return "the settings of the test runner";
  const [, file] = withPrograms.find(([program, , glob]) => sources.words.has(program) && glob.test(path)) ?? [];
  return file;
}

const ci = [
  ".github/workflows/**",
  ".github/actions/**",
  "{,.github/,docs/}CODEOWNERS",
  "{.forgejo,.gitea}/workflows/**",
  ".gitlab-ci.{yml,yaml}",
  ".gitlab/ci/**",
  ".circleci/**",
  ".buildkite/**",
  ".woodpecker/**",
  ".woodpecker.{yml,yaml}",
  ".teamcity/**",
  ".{travis,drone,cirrus,appveyor}.{yml,yaml}",
  "{appveyor,azure-pipelines,bitbucket-pipelines,buildspec,cloudbuild}.{yml,yaml}",
  "Jenkinsfile",
].map(globOf);

const settings = [
  "**/{vitest,jest,ava,playwright,cypress,web-test-runner}.config.*",
  "**/{vitest.workspace,karma.conf,wdio.conf}.*",
  "**/.mocharc{,.*}",
  "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,bunfig.toml,.taprc}",
  ".yarn/releases/**",
  "**/{pytest,.pytest}.{ini,toml}",
  "**/{.coveragerc,.rspec}",
  "{phpunit.xml,phpunit.xml.dist,phpunit.dist.xml,CMakePresets.json,bin/rails}",
  "{bin,script}/test",
  "{mvnw,gradlew,.mvn/**,gradle/wrapper/**}",
  "{.cargo/config,.cargo/config.toml,.config/nextest.toml}",
].map(globOf);

/** Files that count where the test command calls a program. */
const withPrograms = (
  [
    ["vitest", "the settings of the test runner", "**/vite.config.*"],
    ["just", "the recipes that run the tests", "{,.}[jJ]ustfile"],
    ["rake", "the tasks that run the tests", "{R,r}akefile{,.rb}"],
    ["tox", "the settings of the test runner", "tox.ini"],
    ["nox", "the settings of the test runner", "noxfile.py"],
    ["turbo", "the settings of the test runner", "**/turbo.json"],
    ["nx", "the settings of the test runner", "**/{nx,project}.json"],
    ["lerna", "the settings of the test runner", "lerna.json"],
  ] as const
).map(([program, what, glob]) => [program, what, globOf(glob)] as const);
