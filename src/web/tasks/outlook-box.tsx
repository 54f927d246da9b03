import type { ReactNode } from "react";
import { Line, Plain } from "../ui/text.tsx";

/** What a change of a branch would do, before the person confirms it: a sentence, the files that would change, and what else to know. */
export function OutlookBox({
  changed,
  said,
  children,
}: {
  changed: readonly string[];
  said: readonly string[];
  children: ReactNode;
}) {
  return (
    <div className="space-y-1 rounded-md bg-sunken px-3 py-2">
      <p>{children}</p>
      <ul className="max-h-40 overflow-y-auto font-mono text-sm">
        {changed.map((file) => (
          <li key={file}>
            <Line text={file} />
          </li>
        ))}
      </ul>
      {said
        .filter((each) => each !== "")
        .map((each) => (
          <Plain key={each} text={each} className="text-warn" />
        ))}
    </div>
  );
}
