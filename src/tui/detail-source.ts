import { routes } from "../api/routes.ts";
import { patchKey } from "./detail-lines.ts";
import type { Change } from "./feed.ts";
import { layoutOf } from "./frame.ts";
import { taskUnder } from "./place.ts";
import type { Ports } from "./ports.ts";
import type { ChangedFile, Detail, State, Tab } from "./state.ts";
import { messageOf } from "./take-action.ts";
import { type TerminalWatch, watchTerminal } from "./terminal-watch.ts";

/** Moving the cursor reads nothing until it rests. */
const restTime = 80;
const refreshTime = 250;

/** Reads what the detail shows of the task under the cursor, and what can be done with it. */
export function createDetailSource(ports: Ports, state: () => State, apply: (change: Change) => void) {
  const { call } = ports;
  let timer: NodeJS.Timeout | undefined;
  let wanted = "";
  let watch: TerminalWatch | undefined;

  const put = (task: string, change: Partial<Detail>) =>
    apply((before) => (before.detail?.task === task ? { ...before, detail: { ...before.detail, ...change } } : before));

  const readers: Readonly<Record<Exclude<Tab, "terminal">, (task: string) => Promise<Partial<Detail>>>> = {
    explain: async (task) => ({ explain: await call(routes.explainTask, { params: { task } }) }),
    "task file": async (task) => ({ document: (await call(routes.getDocument, { params: { task } })).text }),
    history: async (task) => {
      const { events } = await call(routes.listEvents, { query: { task, before: "end", limit: "200" } });
      return { events };
    },
    findings: async (task) => ({ findings: await call(routes.listFindings, { params: { task } }) }),
    diff: async (task) => {
      const { committed, uncommitted } = await call(routes.diffTask, { params: { task }, query: { files: "true" } });
      const files = [...filesOf(committed.files, "committed"), ...filesOf(uncommitted?.files ?? [], "uncommitted")];
      return { files, patches: {} };
    },
  };

  /** The patch of the file that is shown, if it was not read yet. */
  const readPatch = async (task: string) => {
    const { detail } = state();
    const file = detail?.files?.[detail.file];
    if (detail?.task !== task || file === undefined || patchKey(file) in detail.patches) return;
    const query = { path: file.path, part: file.part };
    const { file: patch } = await call(routes.diffTask, { params: { task }, query });
    const text = patch === undefined ? "" : patch.binary ? "It is a binary file." : patch.text;
    const more = patch?.next == null ? "" : "\n… more: signalbox task diff";
    apply((before) =>
      before.detail?.task === task
        ? {
            ...before,
            detail: { ...before.detail, patches: { ...before.detail.patches, [patchKey(file)]: text + more } },
          }
        : before,
    );
  };

  const read = async () => {
    const under = taskUnder(state());
    if (under !== "")
      await call(routes.listActions, { params: { task: under } }).then(
        ({ task, actions }) =>
          apply((before) => (taskUnder(before) === task.id ? { ...before, actions: { task, list: actions } } : before)),
        () => {},
      );
    const { detail } = state();
    if (detail === undefined || layoutOf(state()).detailWidth === 0) return;
    const { task, tab } = detail;
    if (tab === "terminal") return;
    try {
      put(task, { ...(await readers[tab](task)), problems: {} });
      if (tab === "diff") await readPatch(task);
    } catch (error) {
      put(task, { problems: { [tab]: messageOf(error).join("\n") } });
    }
  };
  const soon = (delay: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void read(), delay);
  };
  const wantTerminal = () => {
    const { detail } = state();
    const isSeen = detail?.tab === "terminal" && layoutOf(state()).detailWidth > 0;
    if (isSeen && watch?.task === detail.task) return;
    watch?.close();
    watch = isSeen ? watchTerminal(ports, detail.task, (terminal) => put(detail.task, { terminal })) : undefined;
  };

  return {
    /** Something else may be shown. */
    look() {
      const { detail } = state();
      const file = detail?.tab === "diff" && detail.files !== undefined ? patchKeyAt(detail) : "";
      const seen = layoutOf(state()).detailWidth > 0;
      const now = [taskUnder(state()), detail?.task, detail?.tab, seen].join("\n");
      wantTerminal();
      if (now !== wanted) {
        wanted = now;
        soon(restTime);
      } else if (file !== "" && detail !== undefined && !(file in detail.patches))
        void readPatch(detail.task).catch(() => {});
    },
    /** The task may be another. */
    refresh(task: string) {
      if (task === taskUnder(state()) || task === state().detail?.task) soon(refreshTime);
    },
    more: () => watch?.more(),
    close() {
      clearTimeout(timer);
      watch?.close();
    },
  };
}

function patchKeyAt({ files = [], file }: Detail): string {
  const found = files[file];
  return found === undefined ? "" : patchKey(found);
}

function filesOf(
  files: readonly { path: string; added: number | null; deleted: number | null; status?: string | undefined }[],
  part: ChangedFile["part"],
): readonly ChangedFile[] {
  return files.map(({ path, added, deleted, status = "" }) => ({ path, added, deleted, status, part }));
}
