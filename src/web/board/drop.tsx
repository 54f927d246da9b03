import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { dangerOf } from "../../api/act.ts";
import { problemsOf } from "../data/client.ts";
import { queries, type Row } from "../data/queries.ts";
import { ConfirmDialog } from "../tasks/confirm-dialog.tsx";
import { wayOf } from "../tasks/perform.ts";
import { useAct } from "../tasks/use-act.ts";
import { tellPerson } from "../ui/toasts.tsx";
import { dangerOfDrop, dropOn } from "./columns.ts";

/** A card that was put into another column: does what leads there, asks first where that is dangerous, or says why nothing does. */
export function Drop({ row, to, onEnd }: { row: Row; to: string; onEnd: () => void }) {
  const actions = useQuery(queries.actions(row.id));
  const explained = useQuery(queries.explain(row.id));
  const graph = useQuery(queries.graph(row.id));
  const acting = useAct(actions.data?.task ?? row, onEnd);
  const isStarted = useRef(false);
  const isFetching = actions.isFetching || explained.isFetching || graph.isFetching;
  const outcome =
    isFetching || actions.data === undefined || explained.data === undefined || graph.data === undefined
      ? undefined
      : dropOn(actions.data.actions, explained.data.moves, row.status, to);
  const action = outcome !== undefined && "action" in outcome ? outcome.action : undefined;
  const way = action === undefined ? undefined : wayOf(action);
  const isEnd = graph.data?.graph.states.some(({ name, terminal }) => name === to && terminal) ?? false;
  const danger =
    action !== undefined && way?.kind === "ask-daemon" ? dangerOfDrop(action, dangerOf(action), isEnd) : undefined;
  const error = actions.error ?? explained.error ?? graph.error;
  const [problem] = acting.problems;
  useEffect(() => {
    const refuse = (why: string) => {
      tellPerson(
        `${row.project}#${row.number} stays in ${row.status}. ${why}`,
        `signalbox task explain ${row.id}`,
        "bad",
      );
      onEnd();
    };
    if (error !== null) return refuse(problemsOf(error)[0]?.text ?? "");
    if (outcome !== undefined && "why" in outcome) return refuse(outcome.why);
    if (problem !== undefined && danger === undefined) return refuse(`${problem.text} ${problem.fix}`);
    if (action === undefined || danger !== undefined || isStarted.current) return;
    isStarted.current = true;
    void acting.act(action, {});
  });
  if (action === undefined || danger === undefined) return null;
  return (
    <ConfirmDialog
      task={actions.data?.task ?? row}
      action={action}
      danger={danger}
      acting={acting}
      onConfirm={() => void acting.act(action, {})}
      onClose={onEnd}
    />
  );
}
