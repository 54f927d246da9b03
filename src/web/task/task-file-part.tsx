import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queries } from "../data/queries.ts";
import { sectionsOf } from "../text/sections.ts";
import { visible } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Markdown } from "../ui/text.tsx";

/** The task file, read or as it is written. */
export function TaskFilePart({ task }: { task: string }) {
  const document = useQuery(queries.document(task));
  const [isRaw, setRaw] = useState(false);
  return (
    <Loaded query={document} what="the task file">
      {({ text, authors }) => {
        const sections = sectionsOf(text).filter((section) => section.text !== "");
        return (
          <div className="mx-auto max-w-4xl space-y-4 p-4">
            <div className="flex justify-end">
              <Button look="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
                {isRaw ? "As it reads" : "As it is written"}
              </Button>
            </div>
            {isRaw ? (
              <pre className="overflow-x-auto rounded-md border border-line bg-panel p-3 font-mono text-sm">
                {visible(text)}
              </pre>
            ) : (
              sections.map(({ heading, text: body }) => (
                <section key={heading} className="rounded-md border border-line bg-panel px-4 py-3">
                  {heading !== "" && (
                    <h2 className="mb-1 flex items-baseline gap-2 font-semibold">
                      {heading}
                      <span className="text-xs font-normal text-muted">{authors[heading]?.run}</span>
                    </h2>
                  )}
                  <Markdown text={body} />
                </section>
              ))
            )}
            {!isRaw && sections.length === 0 && (
              <Empty title="Nothing is written yet">Agents write their plan and their results here.</Empty>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
