import type { Workspace } from "../ports/records.ts";
import type { Store } from "../ports/store.ts";
import { Remembered } from "./remembered.ts";

const mostLists = 200;

/**
 * The same store, which knows its workspaces: whoever looks into one asks first what it is. Everything that changes them
 * goes through here, because there is one daemon for a store.
 */
export function rememberWorkspaces(store: Store): Store {
  const lists = new Remembered<readonly Workspace[]>(mostLists);
  const writing =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      lists.writeAll(() => write(...args));
  return {
    ...store,
    deleteTask: writing(store.deleteTask),
    removeProject: writing(store.removeProject),
    workspaces: {
      ...store.workspaces,
      put: writing(store.workspaces.put),
      remove: writing(store.workspaces.remove),
      list: (filter) =>
        // No name has a line break in it.
        lists.read(`${filter.project ?? "*"}\n${filter.task ?? "*"}`, () => store.workspaces.list(filter)),
    },
  };
}
