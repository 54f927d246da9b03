import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command as Menu } from "cmdk";
import { useState } from "react";
import { queries } from "../data/queries.ts";
import { keyTable } from "../keys/key-table.ts";
import { visibleLine } from "../text/visible.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Status } from "../ui/status.tsx";
import { places } from "./places.ts";

const itemClass =
  "flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 data-[selected=true]:bg-chosen pointer-coarse:py-3";

/** Finds tasks by their words, and commands; each command with its text for a terminal. */
export function Palette({
  onClose,
  onCreate,
  onHelp,
}: {
  onClose: () => void;
  onCreate: () => void;
  onHelp: () => void;
}) {
  const [words, setWords] = useState("");
  const navigate = useNavigate();
  const q = words.trim();
  const found = useQuery({
    ...queries.tasks({ ...(q === "" ? {} : { q }), limit: "20" }),
    placeholderData: (before) => before,
  });
  const runs: Partial<Record<(typeof keyTable)[number]["id"], () => void>> = {
    ...Object.fromEntries(places.map(({ key, to }) => [key, () => void navigate({ to })])),
    create: onCreate,
    help: onHelp,
  };
  const run = (action: () => void) => {
    onClose();
    action();
  };
  const commands = keyTable.filter(({ id, label, command }) => {
    const isMeant = `${label} ${command}`.toLowerCase().includes(q.toLowerCase());
    return runs[id] !== undefined && isMeant;
  });
  return (
    <Dialog title="Search and commands" onClose={onClose} width="max-w-2xl">
      {/* The daemon searches, so that tasks are found that this page has never read. */}
      <Menu shouldFilter={false} label="Search and commands">
        <Menu.Input
          autoFocus
          value={words}
          onValueChange={setWords}
          placeholder="Words of a task, its number, or a command"
          className="w-full rounded-md border border-line bg-panel px-3 py-2"
        />
        <Menu.List className="mt-2 max-h-[50dvh] overflow-y-auto">
          <Menu.Empty className="p-3 text-muted">No task and no command has these words.</Menu.Empty>
          {commands.length > 0 && (
            <Menu.Group heading="Commands">
              {commands.map(({ id, label, keys, command }) => (
                <Menu.Item key={id} value={id} onSelect={() => run(runs[id] ?? (() => {}))} className={itemClass}>
                  <span className="flex-1">{label}</span>
                  {command !== "" && <code className="font-mono text-xs text-muted">{command}</code>}
                  <kbd className="font-mono text-xs text-muted">{keys}</kbd>
                </Menu.Item>
              ))}
            </Menu.Group>
          )}
          {(found.data?.tasks.length ?? 0) > 0 && (
            <Menu.Group heading="Tasks">
              {found.data?.tasks.map((task) => (
                <Menu.Item
                  key={task.id}
                  value={task.id}
                  onSelect={() => run(() => void navigate({ to: "/tasks/$task", params: { task: task.id } }))}
                  className={itemClass}
                >
                  <span className="font-mono text-xs text-muted">
                    {task.project}#{task.number}
                  </span>
                  <span className="min-w-0 flex-1 truncate">{visibleLine(task.summary)}</span>
                  <Status task={task} />
                </Menu.Item>
              ))}
            </Menu.Group>
          )}
        </Menu.List>
      </Menu>
    </Dialog>
  );
}
