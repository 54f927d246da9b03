import type { KeyboardEvent } from "react";
import { visibleLine } from "../text/visible.ts";
import type { PlacedState } from "./layout.ts";

/** Something that is wrong with a state, and what. */
export interface StateMark {
  readonly level: "error" | "warning" | "note";
  readonly text: string;
}

interface StateBoxProps {
  readonly placed: PlacedState;
  readonly isChosen: boolean;
  readonly mark: StateMark | undefined;
  readonly onChoose: ((state: string) => void) | undefined;
}

/** A state: its name, who works there, how often the task was in it, and a mark if something is wrong. */
export function StateBox({ placed, isChosen, mark, onChoose }: StateBoxProps) {
  const { name, state, isCurrent, visits, note, at, width, height } = placed;
  const words = [name, state?.waits ?? "", state?.ask ?? "", mark?.text ?? ""].filter((each) => each !== "");
  const isEnd = state?.terminal === true;
  const border = isCurrent ? "stroke-accent stroke-[2.5]" : visits > 0 ? "stroke-accent" : "stroke-muted/60";
  return (
    <g
      {...(onChoose === undefined ? {} : buttonOf(name, isChosen, onChoose))}
      data-state={name}
      transform={`translate(${at.x - width / 2} ${at.y - height / 2})`}
    >
      <title>{words.map(visibleLine).join("\n")}</title>
      {isChosen && (
        <rect
          x="-4"
          y="-4"
          width={width + 8}
          height={height + 8}
          rx={isEnd ? height / 2 + 4 : 11}
          className="fill-none stroke-accent [stroke-dasharray:4_3]"
        />
      )}
      <rect
        width={width}
        height={height}
        rx={isEnd ? height / 2 : 8}
        className={`${isCurrent ? "fill-chosen" : "fill-panel"} ${border}`}
      />
      {isEnd && (
        <rect
          x="3"
          y="3"
          width={width - 6}
          height={height - 6}
          rx={height / 2 - 3}
          className={`fill-none ${visits > 0 ? "stroke-accent" : "stroke-muted/60"}`}
        />
      )}
      <text
        x={width / 2}
        y={note === "" ? height / 2 + 4.5 : height / 2 - 3}
        textAnchor="middle"
        className={`fill-ink text-[13px] ${isCurrent ? "font-bold" : "font-medium"}`}
      >
        {visibleLine(name)}
        {visits > 1 && <tspan className="fill-accent font-normal"> ×{visits}</tspan>}
      </text>
      {note !== "" && (
        <text
          x={width / 2}
          y={height / 2 + 13}
          textAnchor="middle"
          className={`text-[11px] ${isCurrent ? "fill-accent" : "fill-muted"}`}
        >
          {visibleLine(note)}
        </text>
      )}
      {mark !== undefined && <Mark level={mark.level} x={width} />}
    </g>
  );
}

function buttonOf(name: string, isChosen: boolean, onChoose: (state: string) => void) {
  return {
    role: "button",
    tabIndex: 0,
    "aria-pressed": isChosen,
    className: "cursor-pointer",
    onClick: () => onChoose(name),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onChoose(name);
    },
  };
}

const markLooks = { error: "fill-bad", warning: "fill-warn", note: "fill-note" } as const;

function Mark({ level, x }: { level: StateMark["level"]; x: number }) {
  return (
    <g transform={`translate(${x} 0)`}>
      <circle r="8" className={`${markLooks[level]} stroke-panel stroke-2`} />
      <text textAnchor="middle" y="4" className="fill-on-accent text-[11px] font-bold">
        {level === "note" ? "i" : "!"}
      </text>
    </g>
  );
}
