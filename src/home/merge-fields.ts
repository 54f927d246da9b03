import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-field.ts";

/** How tasks are merged. */
export interface MergeConfig {
  readonly testMerges: boolean;
  readonly pushMerges: boolean;
}

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
};
