import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { routes } from "../../api/routes.ts";
import type { ListedWorkflow } from "../../api/workflows.ts";
import { shellQuote } from "../../shell-quote.ts";
import { call, type Problem, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { useDraft } from "../data/drafts.ts";
import { queries } from "../data/queries.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problems } from "../ui/states.tsx";
import { tellPerson } from "../ui/toasts.tsx";

const field = "block w-full rounded-md border border-line bg-panel px-3 py-1.5 pointer-coarse:text-lg";

/** Creates a task. What was written is kept until the daemon has it. */
export function CreateTask({ onClose }: { onClose: () => void }) {
  const { data: projects } = useQuery(queries.projects);
  const search = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const canAct = useCanAct();
  const [chosen, setProject] = useState(search.project ?? "");
  const [summary, setSummary] = useDraft("create summary");
  const [context, setContext] = useDraft("create context");
  const [branch, setBranch] = useState("");
  const [workflow, setWorkflow] = useState("");
  const [harness, setHarness] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const project = chosen !== "" ? chosen : (projects?.[0]?.name ?? "");
  const own = projects?.find(({ name }) => name === project);
  const workflows = useQuery({ ...queries.workflows(project), enabled: project !== "" });
  const harnesses = useQuery(queries.harnesses);
  const canCreate = canAct && !isBusy && summary.trim() !== "";
  const command = [
    ...["signalbox", "task", "create", ...(branch === "" ? [] : [branch]), summary === "" ? "SUMMARY" : summary],
    ...["--project", project, ...(workflow === "" ? [] : ["--workflow", workflow])],
    ...(harness === "" ? [] : ["--harness", harness]),
    ...(context === "" ? [] : ["--context", context]),
  ];
  const create = async () => {
    if (!canCreate) return;
    setBusy(true);
    setProblems([]);
    const more = Object.entries({ context, branch, workflow, harness }).filter(([, value]) => value !== "");
    const body = { project, summary, ...Object.fromEntries(more) };
    try {
      const { task, warnings } = await call(routes.createTask, { body });
      setSummary("");
      setContext("");
      tellPerson([`${task.project}#${task.number} is created.`, ...warnings].join("\n"), shellQuote(command));
      void client.invalidateQueries({ queryKey: ["tasks"] });
      onClose();
      void navigate({ to: "/tasks/$task", params: { task: task.id } });
    } catch (error) {
      setProblems(problemsOf(error));
      setBusy(false);
    }
  };
  if (projects?.length === 0)
    return (
      <Dialog title="New task" onClose={onClose}>
        <p className="mb-2">There is no project yet. A project is a git repository:</p>
        <Command text="signalbox project add PATH" />
      </Dialog>
    );
  return (
    <Dialog title="New task" onClose={onClose}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void create();
        }}
      >
        <Field label="What is to be done">
          <input autoFocus required value={summary} onChange={(e) => setSummary(e.target.value)} className={field} />
        </Field>
        <Field label="Context (what the agent should know)">
          <textarea rows={5} value={context} onChange={(e) => setContext(e.target.value)} className={field} />
        </Field>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Project">
            <select
              value={project}
              onChange={(e) => {
                setProject(e.target.value);
                // Another project may have other workflows.
                setWorkflow("");
              }}
              className={field}
            >
              {(projects ?? []).map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Field>
          <Field label="Branch">
            <input
              value={branch}
              onChange={(e) => setBranch(e.target.value)}
              placeholder="chosen for you"
              className={field}
            />
          </Field>
          <Field label="Workflow">
            <select value={workflow} onChange={(e) => setWorkflow(e.target.value)} className={field}>
              <option value="">{own?.workflow ? `${own.workflow}, as the project says` : "as the project says"}</option>
              {namesOf(workflows.data ?? [], project).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Field>
          <Field label="Harness">
            <select value={harness} onChange={(e) => setHarness(e.target.value)} className={field}>
              <option value="">{own?.harness ? `${own.harness}, as the project says` : "as configured"}</option>
              {(harnesses.data ?? []).map(({ name, found }) => (
                <option key={name} value={name}>
                  {found ? name : `${name}, not installed`}
                </option>
              ))}
            </select>
          </Field>
        </div>
        {problems.length > 0 && (
          <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
            <Problems problems={problems} />
          </div>
        )}
        <Command text={shellQuote(command)} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button look="main" type="submit" hint="Ctrl ↵" disabled={!canCreate}>
            {isBusy ? "Creating …" : "Create the task"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The workflows that a task of the project can have. */
function namesOf(all: readonly ListedWorkflow[], own: string): readonly string[] {
  const usable = all.filter(({ from, project }) => from !== "gone" && (project === "" || project === own));
  return [...new Set(usable.map(({ name }) => name))].sort();
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is the child.
    <label className="block">
      <span className="mb-0.5 block text-sm text-muted">{label}</span>
      {children}
    </label>
  );
}
