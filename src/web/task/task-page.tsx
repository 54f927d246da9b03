import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Suspense } from "react";
import type { TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { useKeys } from "../keys/use-keys.ts";
import { type TaskPartName, taskParts } from "../search.ts";
import { ActionBar } from "../tasks/action-bar.tsx";
import { late } from "../ui/late.tsx";
import { Loaded, Loading } from "../ui/states.tsx";
import { Count, Status } from "../ui/status.tsx";
import { Ago, Line } from "../ui/text.tsx";
import { AgentPart } from "./agent-part.tsx";
import { ChecksPart } from "./checks-part.tsx";
import { FindingsPart } from "./findings-part.tsx";
import { HistoryPart } from "./history-part.tsx";
import { Overview } from "./overview.tsx";
import { TaskFilePart } from "./task-file-part.tsx";

const ChangesPart = late(async () => (await import("./changes-part.tsx")).ChangesPart);
void ChangesPart.load();

const titles: Readonly<Record<TaskPartName, string>> = {
  overview: "Overview",
  "task-file": "Task file",
  agent: "Agent",
  changes: "Changes",
  findings: "Findings",
  checks: "Checks",
  history: "History",
};

/** Everything about one task, in parts that the URL names. */
export function TaskPage() {
  const { task: id } = useParams({ from: "/tasks/$task" });
  const actions = useQuery(queries.actions(id));
  return (
    <Loaded query={actions} what="the task" title="Task">
      {({ task, actions: all }) => (
        <div className="flex h-full flex-col">
          <Header task={task} />
          <Parts task={task} />
          <footer className="border-t border-line bg-panel px-4 py-2.5">
            <TaskActions task={task} actions={all} />
          </footer>
        </div>
      )}
    </Loaded>
  );
}

function TaskActions({ task, actions }: Pick<Parameters<typeof ActionBar>[0], "task" | "actions">) {
  const questions = useQuery(queries.questions);
  const changes = useQuery(queries.changes(task.id));
  const navigate = useNavigate();
  return (
    <ActionBar
      task={task}
      actions={actions}
      question={questions.data?.find((each) => each.task === task.id)}
      commit={changes.data?.commit}
      onDone={({ name }) => {
        if (name === "delete") void navigate({ to: "/board" });
      }}
    />
  );
}

function Header({ task }: { task: TaskView }) {
  const [run] = task.runs;
  return (
    <header className="border-b border-line bg-panel px-4 py-2">
      <h1 className="text-lg font-semibold">
        <Line text={task.summary} />
      </h1>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <span className="font-mono">
          {task.project}#{task.number}
        </span>
        <Status task={task} />
        <span className="font-mono">
          <Line text={task.branch} />
        </span>
        <span>{task.workflow}</span>
        {run !== undefined && (
          <span>
            with {run.key}
            {task.session === "dead" && <strong className="text-bad"> (its session is dead)</strong>}
          </span>
        )}
        {task.labels.map((label) => (
          <span key={label} className="rounded bg-sunken px-1.5 text-xs">
            <Line text={label} />
          </span>
        ))}
        {task.prUrl !== "" && <PullRequest url={task.prUrl} />}
        <span>
          changed <Ago iso={task.updatedAt} /> ago
        </span>
      </p>
      {task.paused !== "" && <p className="text-sm text-warn">{task.paused}</p>}
      {task.waiting !== "" && <p className="text-sm text-muted">{task.waiting}</p>}
    </header>
  );
}

/** The address comes from a forge: only a web address becomes a link. */
function PullRequest({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <Line text={url} />;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className="text-accent underline">
      Pull request
    </a>
  );
}

function Parts({ task }: { task: TaskView }) {
  const { part = "overview" } = useSearch({ from: "/tasks/$task" });
  const navigate = useNavigate({ from: "/tasks/$task" });
  const findings = useQuery(queries.findings(task.id));
  const open = findings.data?.findings.filter(({ state }) => state === "open").length ?? 0;
  const step = (by: 1 | -1) => {
    const next = taskParts[taskParts.indexOf(part) + by];
    if (next !== undefined) void navigate({ search: { part: next }, replace: true });
  };
  useKeys({ next: () => step(1), previous: () => step(-1) });
  return (
    <>
      <nav aria-label="Parts of the task" className="flex shrink-0 overflow-x-auto border-b border-line bg-panel px-2">
        {taskParts.map((each) => (
          <Link
            key={each}
            from="/tasks/$task"
            search={{ part: each }}
            replace
            aria-current={each === part ? "page" : undefined}
            className={`flex items-center gap-1.5 border-b-2 px-2.5 py-1.5 whitespace-nowrap pointer-coarse:py-3 ${each === part ? "border-accent font-semibold" : "border-transparent text-muted hover:text-ink"}`}
          >
            {titles[each]}
            {each === "findings" && <Count of={open} isUrgent />}
          </Link>
        ))}
      </nav>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Suspense fallback={<Loading what="this part" />}>
          {part === "overview" && <Overview task={task} />}
          {part === "task-file" && <TaskFilePart task={task.id} />}
          {part === "agent" && <AgentPart task={task} />}
          {part === "changes" && <ChangesPart task={task} />}
          {part === "findings" && <FindingsPart task={task} />}
          {part === "checks" && <ChecksPart task={task} />}
          {part === "history" && <HistoryPart task={task.id} />}
        </Suspense>
      </div>
    </>
  );
}
