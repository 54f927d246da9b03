import type { ConfigView } from "../../api/overview.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { formOf, type Layers, resolveConfig, writeConfigValue } from "../../home/config.ts";
import { type Config, configFields, configNames, type Field } from "../../home/config-fields.ts";
import { repositoryPlaces } from "../../home/places.ts";
import { isTrusted, mayCount, readRepositoryConfig, trustedChoices } from "../../home/trust.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { mustHave } from "../project.ts";
import { trustCommand } from "../workspaces/project-settings.ts";

/** Their values can have passwords and tokens in them. A page shows only whether they are set. */
const secrets: ReadonlySet<keyof Config> = new Set([
  ...(["notifyWebhook", "notifyCommand", "harnesses", "setup", "teardown"] as const),
]);

/** Every setting as it is in effect, and where its value comes from; with a project also its own. */
export function showConfig(core: Core): Handler<Routes["showConfig"]> {
  return async ({ query }) => {
    const project = query.project === undefined ? undefined : await mustHave(core, query.project);
    const { values, problems } = core.config();
    const own = project === undefined ? noRepository : ofRepository(core, project);
    const resolved = resolveConfig({ ...own.layers, user: values });
    return {
      files: {
        user: core.places.config,
        repository: project === undefined ? "" : (repositoryPlaces(core.home, project.path)?.config ?? ""),
      },
      problems: [...problems, ...own.problems],
      notes: [...own.notes],
      settings: configNames.map((name) => {
        const field: Field = configFields[name];
        const { value, source } = resolved[name];
        const hidden = secrets.has(name) && source !== "default";
        return {
          ...{ key: field.key, level: field.level, description: field.description, form: formOf(field) },
          ...{ hidden, value: hidden ? "" : writeConfigValue(value) },
          source: source === "repository" || source === "project" || source === "user" ? source : "default",
        };
      }),
    };
  };
}

interface OfRepository {
  readonly layers: Layers;
  readonly problems: readonly string[];
  readonly notes: ConfigView["notes"];
}

const noRepository: OfRepository = { layers: {}, problems: [], notes: [] };

/** What the project's record and its repository's file say. A file that is wrong is a problem to show, and no fault. */
function ofRepository({ home, places }: Core, project: Project): OfRepository {
  const { name, workflow, harness, reviewHarness, branchPrefix, poolSize } = project;
  const recorded = Object.entries({ workflow, harness, reviewHarness, branchPrefix, poolSize });
  const layers: Layers = { project: Object.fromEntries(recorded.filter(([, value]) => value !== "")) };
  try {
    const file = readRepositoryConfig(home, project.path);
    if (file === undefined) return { layers, problems: [], notes: [] };
    const choices = file.choices.length > 0 && !isTrusted(places, file.hash) ? file.choices.join(", ") : "";
    return {
      layers: { ...layers, repository: trustedChoices(file, places) },
      problems: [],
      notes: [
        ...(choices === ""
          ? []
          : [{ text: `The repository's ${choices} has no effect until you trust its file.`, fix: trustCommand(name) }]),
        ...(mayCount(file, places)
          ? []
          : [
              {
                text: "The repository's file names commands, and is not used for workspaces until you trust it.",
                fix: trustCommand(name),
              },
            ]),
      ],
    };
  } catch (error) {
    if (error instanceof Fault) return { layers, problems: [error.message], notes: [] };
    throw error;
  }
}
