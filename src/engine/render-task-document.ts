import { bodyOf, type TaskDocument } from "./task-document.ts";
import { type FrontmatterTask, frontmatterLines } from "./task-frontmatter.ts";

/** Writes TASK.md: frontmatter from what the engine knows, whatever the document said; the body as it was. */
export function renderTaskDocument(task: FrontmatterTask, document: TaskDocument): string {
  const lines = ["---", ...frontmatterLines(task), "---", ""];
  return lines.join(document.eol) + bodyOf(document);
}
