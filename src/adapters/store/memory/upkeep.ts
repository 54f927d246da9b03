import { writeFile } from "node:fs/promises";
import type { Store } from "../../../ports/store.ts";
import type { Run, Tables } from "./tables.ts";

export function createUpkeep(tables: Tables, read: Run): Pick<Store, "check" | "backup"> {
  return {
    check: () => read(() => []),
    backup: async (path) => {
      const everything = await read(() => {
        const { projects, workflows, tasks, events } = tables;
        const effects = [...tables.effects.values()].map(({ task, ...effect }) => ({ ...effect, task: task.id }));
        const rows = [...tasks.values()].map(({ effects: _, ...task }) => task);
        const kept = Object.entries(tables.kept).map(([kind, records]) => [kind, [...records.values()]]);
        const maps = { projects: [...projects], workflows: [...workflows], kept };
        return JSON.stringify({ ...maps, tasks: rows, events, effects });
      });
      await writeFile(path, everything);
    },
  };
}
