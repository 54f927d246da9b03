import type { Workspace } from "../ports/records.ts";
import type { Store } from "../ports/store.ts";

const mostLists = 200;

/**
 * The same store, which knows its workspaces: whoever looks into one asks first what it is. Everything that changes them
 * goes through here, because there is one daemon for a store.
 */
export function rememberWorkspaces(store: Store): Store {
  let lists = new Map<string, readonly Workspace[]>();
  const forget = () => {
    lists = new Map();
  };
  // What is read while something is written may be older than that: it is forgotten when the writing is over.
  const writing =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      forget();
      try {
        return await write(...args);
      } finally {
        forget();
      }
    };
  return {
    ...store,
    deleteTask: writing(store.deleteTask),
    removeProject: writing(store.removeProject),
    workspaces: {
      ...store.workspaces,
      put: writing(store.workspaces.put),
      remove: writing(store.workspaces.remove),
      async list(filter) {
        // No name has a line break in it.
        const key = `${filter.project ?? "*"}\n${filter.task ?? "*"}`;
        const into = lists;
        const before = into.get(key);
        if (before !== undefined) return before;
        const found = await store.workspaces.list(filter);
        if (into.size >= mostLists) into.clear();
        into.set(key, found);
        return found;
      },
    },
  };
}
