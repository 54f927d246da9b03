import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { queries } from "../data/queries.ts";

/** Chooses the project whose tasks are shown; it stays in the URL of every screen. */
export function ProjectSwitch() {
  const { data: projects = [] } = useQuery(queries.projects);
  const { project = "" } = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  if (projects.length < 2 && project === "") return null;
  const choose = (name: string) =>
    void navigate({ to: ".", search: (before) => ({ ...before, project: name === "" ? undefined : name }) as never });
  const known = projects.some(({ name }) => name === project) || project === "";
  return (
    <select
      aria-label="Project"
      value={project}
      onChange={(event) => choose(event.target.value)}
      className="w-full rounded-md border border-line bg-panel px-2 py-1"
    >
      <option value="">All projects</option>
      {!known && <option value={project}>{project} (not there)</option>}
      {projects.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
