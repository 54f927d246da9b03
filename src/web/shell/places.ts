import type { KeyId } from "../keys/key-table.ts";

/** The screens that the sidebar leads to. On a phone the first ones have a button of their own, the others are in a menu. */
export const places = [
  {
    to: "/",
    title: "Inbox",
    icon: "M3 13h5l1.5 3h5L16 13h5M3 13V6a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
    key: "go-inbox",
  },
  { to: "/board", title: "Board", icon: "M4 4h4v16H4zM10 4h4v10h-4zM16 4h4v13h-4z", key: "go-board" },
  {
    to: "/agents",
    title: "Agents",
    icon: "M4 5h16v11H4zM8 20h8M12 16v4M8 9l2 2-2 2M12 13h3",
    key: "go-agents",
  },
  { to: "/timeline", title: "Time line", icon: "M3 6h9M7 12h11M5 18h6M15 18h5", key: "go-timeline" },
  { to: "/usage", title: "Usage", icon: "M4 20V10M10 20V4M16 20v-8M21 20H3", key: "go-usage" },
  {
    to: "/workflows",
    title: "Workflows",
    icon: "M4 4h6v5H4zM14 15h6v5h-6zM7 9v5a3 3 0 0 0 3 3h4",
    key: "go-workflows",
  },
  { to: "/merges", title: "Merge line", icon: "M6 3v18M6 8c0 6 12 2 12 8v5M4 5l2-2 2 2", key: "go-merges" },
  {
    to: "/settings",
    title: "Settings",
    icon: "M4 7h10M18 7h2M14 5v4M4 17h4M12 17h8M8 15v4",
    key: "go-settings",
  },
] as const satisfies readonly { to: string; title: string; icon: string; key: KeyId }[];
