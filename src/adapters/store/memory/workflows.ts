import type { Store } from "../../../ports/store.ts";
import type { Run, Tables } from "./tables.ts";

export function createWorkflows(
  { workflows }: Tables,
  read: Run,
  write: Run,
): Pick<Store, "saveWorkflow" | "getWorkflow"> {
  return {
    saveWorkflow: ({ hash, name, text }) =>
      write(() => {
        if (!workflows.has(hash)) workflows.set(hash, { name, text });
      }),
    getWorkflow: (hash) =>
      read(() => {
        const found = workflows.get(hash);
        return found && { hash, ...found };
      }),
  };
}
