import { useQuery } from "@tanstack/react-query";
import type { DoctorView } from "../../api/overview.ts";
import { queries } from "../data/queries.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Loaded } from "../ui/states.tsx";
import { Plain } from "../ui/text.tsx";

type Check = DoctorView["checks"][number];

const looks: Readonly<Record<Check["level"], readonly [mark: string, look: string]>> = {
  ok: ["✓", "bg-good-soft text-good"],
  warning: ["!", "bg-warn-soft text-warn"],
  error: ["✗", "bg-bad-soft text-bad"],
};
const ranks: Readonly<Record<Check["level"], number>> = { error: 0, warning: 1, ok: 2 };

/** The doctor's checks, the worst first, each with the commands that mend it. */
export function DoctorPart({ onlyBad, onOnlyBad }: { onlyBad: boolean; onOnlyBad: (isOn: boolean) => void }) {
  const doctor = useQuery(queries.doctor);
  return (
    <Loaded query={doctor} what="what the doctor finds">
      {({ checks }) => {
        const sorted = [...checks].sort((a, b) => ranks[a.level] - ranks[b.level]);
        const shown = onlyBad ? sorted.filter(({ level }) => level !== "ok") : sorted;
        const bad = checks.filter(({ level }) => level !== "ok").length;
        return (
          <div className="space-y-3 p-4">
            <div className="flex flex-wrap items-center gap-3">
              <p className="font-semibold">
                {bad === 0
                  ? "Everything is well."
                  : bad === 1
                    ? "1 check found something."
                    : `${bad} checks found something.`}
              </p>
              <label className="flex items-center gap-1.5 pointer-coarse:min-h-11">
                <input type="checkbox" checked={onlyBad} onChange={(event) => onOnlyBad(event.target.checked)} />
                Only what was found
              </label>
              <Button disabled={doctor.isFetching} onClick={() => void doctor.refetch()} className="ml-auto">
                {doctor.isFetching ? "Checking …" : "Check again"}
              </Button>
              <Command text="signalbox doctor" />
            </div>
            <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
              {shown.map((check) => (
                <li key={`${check.name} ${check.found}`} className="flex items-start gap-3 px-3 py-2">
                  <CheckView check={check} />
                </li>
              ))}
              {shown.length === 0 && <li className="px-3 py-2 text-muted">Nothing was found.</li>}
            </ul>
          </div>
        );
      }}
    </Loaded>
  );
}

function CheckView({ check: { name, level, found, fix } }: { check: Check }) {
  const [mark, look] = looks[level];
  // Some fixes are sentences; a command begins with the name of a program.
  const lines = fix.split("\n").filter((line) => line !== "");
  return (
    <>
      <span className={`rounded px-1.5 text-sm leading-5 font-bold ${look}`}>
        <span aria-hidden>{mark}</span>
        <span className="sr-only">{level}</span>
      </span>
      <span className="w-24 shrink-0 font-medium">{name}</span>
      <div className="min-w-0 flex-1 space-y-1">
        <Plain text={found} />
        {lines.map((line) =>
          isCommand(line) ? (
            <Command key={line} text={line} />
          ) : (
            <Plain key={line} text={line} className="text-sm text-muted" />
          ),
        )}
      </div>
    </>
  );
}

function isCommand(line: string): boolean {
  return /^(signalbox|git|tmux|npm|chmod|rm|mv|mkdir|sudo|brew|apt-get|export) /.test(line);
}
