import { useQuery } from "@tanstack/react-query";
import type { QuestionView } from "../../api/questions.ts";
import type { TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { lastWritten, sectionsOf } from "../text/sections.ts";
import { Ago, Markdown } from "../ui/text.tsx";

/** What agents wrote last about the task: the newest section open, the earlier ones folded. */
export function Evidence({ task, question }: { task: TaskView; question?: QuestionView | undefined }) {
  const { data } = useQuery(queries.document(task.id));
  if (data === undefined) return null;
  const sections = sectionsOf(data.text);
  const written = lastWritten(data.artifacts);
  const shown = sections
    // What the task asks is shown above, as its question.
    .filter(({ heading, text }) => text !== "" && heading !== "" && text !== question?.text.trim())
    .map((section) => ({ ...section, artifact: written.get(section.heading), author: data.authors[section.heading] }))
    .sort((a, b) => (b.artifact?.at ?? "").localeCompare(a.artifact?.at ?? ""));
  if (shown.length === 0) return null;
  return (
    <section aria-label="What was written" className="space-y-1.5">
      {shown.map(({ heading, text, artifact, author }, i) => (
        <details key={heading} open={i === 0} className="rounded-md border border-line bg-panel">
          <summary className="px-3 py-1.5 font-medium pointer-coarse:py-3">
            {heading}
            <span className="ml-2 text-xs font-normal text-muted">
              {author?.run ?? artifact?.run} {artifact !== undefined && <Ago iso={artifact.at} />}
            </span>
          </summary>
          <div className="border-t border-line px-3 py-2">
            <Markdown text={text} />
          </div>
        </details>
      ))}
    </section>
  );
}
