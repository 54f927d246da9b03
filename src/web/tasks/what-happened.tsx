import { useQuery } from "@tanstack/react-query";
import { routes } from "../../api/routes.ts";
import { call } from "../data/client.ts";
import { describeEvent } from "../text/describe-event.ts";
import { visible } from "../text/visible.ts";
import { Ago } from "../ui/text.tsx";
import type { StaleChange } from "./use-act.ts";

const maxShown = 5;

/** What happened to a task since the person saw it: where it went, and its last events. */
export function WhatHappened({ change: { task, seen, from, to } }: { change: StaleChange }) {
  const { data } = useQuery({
    queryKey: ["task", task, "events-after", seen],
    queryFn: () => call(routes.listEvents, { query: { task, before: "end", limit: "50" } }),
    gcTime: 0,
  });
  const newer = (data?.events ?? []).filter(({ revision }) => revision > seen).slice(0, maxShown);
  return (
    <div className="mt-1.5 text-sm">
      <p>{from === to ? `It is still in ${visible(to)}.` : `It went from ${visible(from)} to ${visible(to)}.`}</p>
      <ul className="list-disc pl-5 text-muted">
        {newer.map((event) => (
          <li key={event.position}>
            <span className="font-mono">{event.type}</span> by {visible(event.by)}, <Ago iso={event.at} /> ago{" "}
            <span dir="auto">{visible(describeEvent(event))}</span>
          </li>
        ))}
      </ul>
      <p>What you see now is up to date. Do it again if you still want to.</p>
    </div>
  );
}
