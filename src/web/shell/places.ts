import type { KeyId } from "../keys/key-table.ts";

/** The screens that the sidebar leads to. */
export const places = [
  {
    to: "/",
    title: "Inbox",
    icon: "M3 13h5l1.5 3h5L16 13h5M3 13V6a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
    key: "go-inbox",
  },
  { to: "/board", title: "Board", icon: "M4 4h4v16H4zM10 4h4v10h-4zM16 4h4v13h-4z", key: "go-board" },
] as const satisfies readonly { to: string; title: string; icon: string; key: KeyId }[];
