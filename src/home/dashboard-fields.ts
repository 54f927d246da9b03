import type { Field } from "./config-fields.ts";

/** How the terminal dashboard is used. */
export interface DashboardConfig {
  /** Keys by the names of actions: the dashboard's own, and those of tasks. */
  readonly dashboardKeys: Readonly<Record<string, string>>;
  readonly dashboardBell: boolean;
}

export const dashboardFields: { readonly [Name in keyof DashboardConfig]: Field<DashboardConfig[Name]> } = {
  dashboardKeys: {
    key: "dashboard.keys",
    level: "user",
    shape: {
      kind: "map",
      what: "keys",
      names: /^[a-z][a-z-]*$/,
      of: {
        kind: "text",
        pattern: /^(\S|g \S|Space|Enter|Tab|Backtab|Left|Right|PageUp|PageDown|Home|End|Ctrl\+[A-Z])$/,
        expected: 'a key such as "a", "g a", "Ctrl+N" or "Space"',
      },
    },
    default: {},
    description:
      "Other keys in signalbox dashboard by the names of actions, such as dashboard.keys.approve; the help there shows the names",
    merge: (below, above) => ({ ...below, ...above }),
  },
  dashboardBell: {
    key: "dashboard.bell",
    level: "user",
    shape: { kind: "boolean" },
    default: true,
    description: "Whether signalbox dashboard rings the terminal's bell when a task needs you",
  },
};
