import type { QuestionView } from "../../api/questions.ts";
import type { TaskView } from "../../api/tasks.ts";
import { Ago, Markdown, Plain } from "../ui/text.tsx";

/** Why a task needs a person: the question that it asks, or what else stands in its way. */
export function Needs({ task, question }: { task: TaskView; question: QuestionView | undefined }) {
  return (
    <section aria-label="What it needs" className="space-y-2">
      {question !== undefined && (
        <div className="rounded-md border-l-3 border-warn bg-warn-soft px-3 py-2">
          <p className="mb-1 flex gap-2 text-xs text-muted">
            <span>{question.role === "" ? "The workflow asks" : `The ${question.role} asks`}</span>
            <Ago iso={question.since} className="ml-auto" />
          </p>
          <Markdown text={question.text} />
        </div>
      )}
      {task.needs
        .filter(({ reason }) => question === undefined || reason !== "question")
        .map(({ reason, text, since }) => (
          <div key={`${reason} ${since}`} className="rounded-md border-l-3 border-warn bg-warn-soft px-3 py-2">
            <Plain text={text} />
          </div>
        ))}
      {task.held !== null && <Plain text={task.held.reason} className="rounded-md bg-bad-soft px-3 py-2" />}
      {task.protectedChanges.length > 0 && (
        <div className="rounded-md bg-bad-soft px-3 py-2">
          <p className="font-medium">Its work changes what decides about work:</p>
          <ul className="list-disc pl-5">
            {task.protectedChanges.map((each) => (
              <li key={each}>
                <Plain text={each} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
