import { type KeyboardEvent, memo, startTransition, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ChangeData, Diff, getChangeKey, Hunk, parseDiff } from "react-diff-view";
import { visible, visibleLine } from "../text/visible.ts";
import { LineCommentBox } from "./line-comment-box.tsx";
import { isSamePiece, type Piece, piecesOf, sideOf } from "./patch-pieces.ts";
import { draftOf, isAt, useReviewDraft, withComment } from "./review-draft.ts";
import "react-diff-view/style/index.css";
import "./diff.css";

/** The height of a line, for the room of those that are not drawn yet. */
const lineHeight = 19;

interface FilePatchProps {
  task: string;
  path: string;
  commit: string;
  text: string;
}

/** The patch of a file. Each line can have a comment: by a click on its number, or with the arrow keys and Enter. */
export function FilePatch({ task, path, commit, text }: FilePatchProps) {
  const file = useMemo(() => parseDiff(visible(text), { nearbySequences: "zip" })[0], [text]);
  const pieces = useMemo(() => piecesOf(file?.hunks ?? []), [file]);
  const shown = useMoreAndMore(pieces.length);
  const [chosen, setChosen] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLElement>(null);
  const toggle = useCallback((change: ChangeData | null, isOpen: boolean) => {
    if (change === null) return;
    const key = getChangeKey(change);
    setChosen(key);
    setOpen((before) => {
      const next = new Set(before);
      if (isOpen) next.add(key);
      else next.delete(key);
      return next;
    });
    if (!isOpen) box.current?.focus({ preventScroll: true });
  }, []);
  if (file === undefined || pieces.length === 0)
    return <p className="px-3 py-2 text-muted">Only its name or its mode has changed, or it is empty.</p>;

  const changes = () => pieces.slice(0, shown).flatMap(({ hunk }) => hunk.changes);
  const current = chosen === "" ? undefined : changes().find((change) => getChangeKey(change) === chosen);
  const choose = (change: ChangeData | undefined) => {
    if (change === undefined) return;
    const key = getChangeKey(change);
    setChosen(key);
    box.current?.querySelector(`[data-change-key="${key}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      const all = changes();
      choose(all[current === undefined ? 0 : all.indexOf(current) + step]);
    } else if (event.key === "Enter" && current !== undefined) toggle(current, true);
    else return;
    event.preventDefault();
  };
  const left = pieces.slice(shown).reduce((sum, { hunk }) => sum + hunk.changes.length, 0);
  return (
    <section
      ref={box}
      aria-label={`Changes of ${visibleLine(path)}. The arrow keys choose a line, Enter comments on it.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: lines are chosen with the keyboard in it.
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <p aria-live="polite" className="sr-only">
        {current !== undefined && `${sideOf(current).side} line ${sideOf(current).line}: ${current.content}`}
      </p>
      {pieces.slice(0, shown).map((piece) => (
        <PieceView
          key={piece.key}
          {...{ task, path, commit, piece, toggle }}
          type={file.type}
          chosen={hasChange(piece, chosen) ? chosen : ""}
          open={openIn(piece, open)}
        />
      ))}
      {left > 0 && <div style={{ height: left * lineHeight }} />}
    </section>
  );
}

/** Counts up to `count`: one at once, each further one when the browser has nothing else to do. */
function useMoreAndMore(count: number): number {
  const [shown, setShown] = useState(1);
  useEffect(() => {
    if (shown >= count) return;
    const more = () => startTransition(() => setShown(shown + 1));
    if (typeof requestIdleCallback === "undefined") {
      const timer = setTimeout(more, 20);
      return () => clearTimeout(timer);
    }
    const asked = requestIdleCallback(more, { timeout: 300 });
    return () => cancelIdleCallback(asked);
  }, [shown, count]);
  return Math.min(shown, count);
}

function hasChange({ hunk }: Piece, key: string): boolean {
  return key !== "" && hunk.changes.some((change) => getChangeKey(change) === key);
}

/** Those of the lines with an open field that are in this part, as one text, so that other parts are not drawn again. */
function openIn(piece: Piece, open: ReadonlySet<string>): string {
  return [...open].filter((key) => hasChange(piece, key)).join(" ");
}

interface PieceProps {
  task: string;
  path: string;
  commit: string;
  piece: Piece;
  type: Parameters<typeof Diff>[0]["diffType"];
  chosen: string;
  open: string;
  toggle: (change: ChangeData | null, isOpen: boolean) => void;
}

const PieceView = memo(
  ({ task, path, commit, piece, type, chosen, open, toggle }: PieceProps) => {
    const [draft, setDraft] = useReviewDraft(task);
    const { hunk, heading } = piece;
    const hunks = useMemo(() => [hunk], [hunk]);
    const own = draft.comments.filter((each) => each.path === path);
    const commented = hunk.changes.flatMap((change) => {
      const place = { path, ...sideOf(change) };
      const comment = own.find((each) => isAt(each, place));
      const key = getChangeKey(change);
      return comment === undefined && !open.split(" ").includes(key) ? [] : [{ change, key, place, comment }];
    });
    const signature = JSON.stringify(commented.map(({ key, comment }) => [key, comment?.text]));
    // biome-ignore lint/correctness/useExhaustiveDependencies: the signature stands for the comments of these lines.
    const widgets = useMemo(
      () =>
        Object.fromEntries(
          commented.map(({ change, key, place, comment }) => [
            key,
            <LineCommentBox
              key={key}
              place={place}
              text={comment?.text ?? ""}
              isOpen={open.split(" ").includes(key)}
              setOpen={(isOpen) => toggle(change, isOpen)}
              setText={(text) => {
                const before = comment ?? { ...place, code: change.content, commit };
                setDraft(withComment(draftOf(task), { ...before, text }));
              }}
            />,
          ]),
        ),
      [signature, open, commit],
    );
    const selected = useMemo(() => (chosen === "" ? [] : [chosen]), [chosen]);
    const events = useMemo(
      () => ({ onClick: ({ change }: { change: ChangeData | null }) => toggle(change, true) }),
      [toggle],
    );
    return (
      <>
        {heading !== "" && (
          <p className="bg-sunken px-3 font-mono text-xs leading-5 text-muted" dir="auto">
            {heading}
          </p>
        )}
        <Diff
          viewType="unified"
          diffType={type}
          hunks={hunks}
          widgets={widgets}
          selectedChanges={selected}
          gutterEvents={events}
        >
          {drawHunks}
        </Diff>
      </>
    );
  },
  (before, after) =>
    isSamePiece(before.piece, after.piece) &&
    before.chosen === after.chosen &&
    before.open === after.open &&
    before.commit === after.commit,
);
PieceView.displayName = "PieceView";

const drawHunks: NonNullable<Parameters<typeof Diff>[0]["children"]> = (hunks) =>
  hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />);
