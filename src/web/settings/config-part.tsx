import { useQuery } from "@tanstack/react-query";
import type { ConfigView } from "../../api/overview.ts";
import { shellWord } from "../../shell-quote.ts";
import { queries } from "../data/queries.ts";
import { visible, visibleLine } from "../text/visible.ts";
import { Command } from "../ui/command.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Plain } from "../ui/text.tsx";

type Setting = ConfigView["settings"][number];

const sources: Readonly<Record<Setting["source"], readonly [name: string, look: string]>> = {
  user: ["your file", "bg-note-soft text-note"],
  repository: ["the repository's file", "bg-good-soft text-good"],
  project: ["the project's record", "bg-chosen text-accent"],
  default: ["default", "bg-sunken text-muted"],
};

/** Every setting as it is in effect, and where its value comes from. The page changes none: commands and editors do. */
export function ConfigPart({
  project,
  words,
  onlySet,
  onWords,
  onOnlySet,
}: {
  project: string | undefined;
  words: string;
  onlySet: boolean;
  onWords: (words: string) => void;
  onOnlySet: (isOn: boolean) => void;
}) {
  const config = useQuery(queries.config(project));
  return (
    <Loaded query={config} what="the configuration">
      {({ files, problems, notes, settings }) => {
        const shown = settings
          .filter(({ source }) => !onlySet || source !== "default")
          .filter(({ key, description }) => `${key} ${description}`.toLowerCase().includes(words.toLowerCase()));
        return (
          <div className="space-y-3 p-4">
            <p className="text-sm [overflow-wrap:anywhere] text-muted">
              Your file: <code className="font-mono">{visibleLine(files.user)}</code>
              {files.repository !== "" && (
                <>
                  <br />
                  The file of {project}: <code className="font-mono">{visibleLine(files.repository)}</code>
                </>
              )}
              {project === undefined && (
                <>
                  <br />
                  Choose a project to see what its record and its repository's file say.
                </>
              )}
            </p>
            {problems.map((problem) => (
              <div key={problem} role="alert" className="rounded-md bg-bad-soft px-3 py-2">
                <Plain text={problem} className="text-bad" />
              </div>
            ))}
            {notes.map(({ text, fix }) => (
              <div key={text} className="rounded-md bg-warn-soft px-3 py-2">
                <Plain text={text} className="text-warn" />
                <Command text={fix} className="mt-1" />
              </div>
            ))}
            <div className="flex flex-wrap items-center gap-3">
              <SearchField value={words} onChange={onWords} />
              <label className="flex items-center gap-1.5 pointer-coarse:min-h-11">
                <input type="checkbox" checked={onlySet} onChange={(event) => onOnlySet(event.target.checked)} />
                Only what is set
              </label>
            </div>
            {shown.length === 0 ? (
              <Empty title="No setting is like that">
                {onlySet ? "Every other setting has its default." : "Words are looked for in keys and descriptions."}
              </Empty>
            ) : (
              <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
                {shown.map((setting) => (
                  <li key={setting.key}>
                    <SettingRow setting={setting} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function SettingRow({ setting: { key, value, hidden, source, level, description, form } }: { setting: Setting }) {
  const [name, look] = sources[source];
  const change = `signalbox config set ${key} ${shellWord(value === "" ? "VALUE" : value)}`;
  return (
    <details className="group px-3 py-2">
      <summary className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 pointer-coarse:min-h-11">
        <code className="font-mono font-medium">{key}</code>
        <code className="min-w-0 flex-1 truncate font-mono text-sm text-muted">
          {hidden ? "set, and not shown here: it may have a secret in it" : visibleLine(value) || "–"}
        </code>
        <span className={`rounded px-1.5 text-xs leading-5 font-medium whitespace-nowrap ${look}`}>{name}</span>
      </summary>
      <div className="mt-1 space-y-1 pl-4 text-sm">
        <p>{description}.</p>
        {value.length > 60 && (
          <pre className="overflow-x-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap">
            {visible(value)}
          </pre>
        )}
        <p className="text-muted">
          Written as {form}.{" "}
          {level === "project" ? "A repository's file may set it, too." : "Only your file may set it."}
        </p>
        <Command text={hidden ? `signalbox config get ${key}` : change} />
      </div>
    </details>
  );
}
