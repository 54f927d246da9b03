import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-field.ts";

/** How tasks are merged. */
export interface MergeConfig {
  readonly testMerges: boolean;
  readonly pushMerges: boolean;
  readonly land: "local" | "remote";
}

/** Where work counts as merged. */
const landing: Shape = { kind: "text", oneOf: ["local", "remote"] };
const boolean: Shape = { kind: "boolean" };

export const mergeFields: { readonly [Name in keyof MergeConfig]: Field<MergeConfig[Name]> } = {
  testMerges: {
    key: "test_merges",
    level: "project",
    shape: boolean,
    default: false,
    description: "Whether the project's tests are run on what a merge would make before the default branch moves",
  },
  pushMerges: {
    key: "push_merges",
    level: "user",
    shape: boolean,
    default: true,
    description: "Whether the default branch is pushed to the remote with every merge, where there is a remote",
  },
  land: {
    key: "land",
    level: "user",
    shape: landing,
    default: "local",
    description:
      "Which default branch work is merged into: your own, or that of the remote; then yours follows where nothing is in the way",
  },
};
