/** What a tool can do, for harnesses that know only kinds of tools. */
export type ToolKind = "read" | "write" | "execute" | "web";

const kinds: Readonly<Record<string, ToolKind>> = {
  read: "read",
  glob: "read",
  grep: "read",
  ls: "read",
  write: "write",
  edit: "write",
  multiedit: "write",
  notebookedit: "write",
  bash: "execute",
  execute: "execute",
  websearch: "web",
  webfetch: "web",
  web: "web",
};

/** The kind of a tool by the name that workflows use; undefined for tools of ours, which every run may use. */
export function toolKind(name: string): ToolKind | undefined {
  return kinds[name.toLowerCase()];
}
