import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Problem, problemsOf } from "../data/client.ts";
import { useDaemonState } from "../data/daemon-state.ts";
import { Button } from "./button.tsx";
import { Plain } from "./text.tsx";

/** What a query has read, or why there is nothing to show yet. What was read before stays on the screen when it gets stale. */
export function Loaded<T>({
  query,
  what,
  title,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  /** What is read, such as "the tasks". */
  what: string;
  /** The heading of the screen, where the children bring it with them. */
  title?: string;
  children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined)
    return (
      <>
        {title !== undefined && <h1 className="sr-only">{title}</h1>}
        {error === null ? <Loading what={what} /> : <Failed error={error} retry={() => void refetch()} />}
      </>
    );
  return (
    <>
      {error !== null && <Stale error={error} what={what} />}
      {children(data)}
    </>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="p-6 text-center text-muted">
      Loading {what} …
    </p>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div role="alert" className="m-3 rounded-md border border-line bg-bad-soft px-4 py-3">
      <Problems problems={problemsOf(error)} />
      {retry !== undefined && (
        <Button className="mt-2" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Reasons with what to do about each, as the daemon gives them. */
export function Problems({ problems }: { problems: readonly Problem[] }) {
  return (
    <ul className="space-y-1">
      {problems.map(({ code, text, fix }) => (
        <li key={`${code} ${text}`}>
          <Plain text={text} className="font-medium" />
          {fix !== "" && <Plain text={fix} className="text-muted" />}
        </li>
      ))}
    </ul>
  );
}

/** What is shown could not be read again, so it may be out of date. */
function Stale({ error, what }: { error: unknown; what: string }) {
  // While the daemon is gone, the banner says so once.
  if (useDaemonState().connection === "gone") return null;
  return (
    <p role="status" className="border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn">
      This may be out of date: {what} could not be read again. {problemsOf(error)[0]?.text}
    </p>
  );
}

/** Nothing is there: why, and what a person can do. */
export function Empty({
  title,
  isScreen = false,
  children,
}: {
  title: string;
  /** There is nothing else on the screen: the title is its heading. */
  isScreen?: boolean;
  children?: ReactNode;
}) {
  const Title = isScreen ? "h1" : "p";
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-16 text-center">
      <Title className="text-lg font-semibold">{title}</Title>
      <div className="max-w-md text-muted">{children}</div>
    </div>
  );
}
