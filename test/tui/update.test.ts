import { expect, test } from "vitest";
import { createKeys } from "../../src/tui/bindings.ts";
import { entriesOf } from "../../src/tui/entries.ts";
import { layoutOf } from "../../src/tui/frame.ts";
import { atTime, settled, toldGone } from "../../src/tui/place.ts";
import type { Asking, Effect, State } from "../../src/tui/state.ts";
import { update } from "../../src/tui/update.ts";
import { asking, now, row, stateWith, withTasks } from "./sample.ts";

const keys = createKeys();
/** Presses keys one after the other. Returns the state and everything that is to be done. */
function press(state: State, ...pressed: readonly string[]): readonly [State, readonly Effect[]] {
  const effects: Effect[] = [];
  let now = state;
  for (const key of pressed) {
    const [next, more] = update(now, { kind: "key", key }, keys);
    now = next;
    effects.push(...more);
  }
  return [now, effects];
}
const under = (state: State) => state.places[state.screen].key;
/** The line of the screen on which the cursor is. */
const lineOf = ({ places: { tasks } }: State) => tasks.at - tasks.top;

const many = Array.from({ length: 60 }, (_, i) => row(i + 1));
const merge: Asking = {
  action: {
    name: "merge",
    label: "Merge",
    key: "m",
    command: "signalbox task merge t1",
    to: "",
    consequence: "merge",
    allowed: true,
    why: "",
  },
  tasks: [],
};

test("the cursor moves over headings, by lines and pages and to both ends", () => {
  const state = stateWith([asking(1), row(2), row(3), row(4, { group: "queued" })]);
  expect(under(state)).toBe("t1");
  expect(under(press(state, "j")[0])).toBe("t2");
  expect(under(press(state, "End")[0])).toBe("t4");
  expect(under(press(state, "End", "k", "Up", "Up", "k")[0])).toBe("t1");
  const long = stateWith(many);
  const paged = press(long, "PageDown")[0];
  expect(lineOf(paged)).toBeLessThan(layoutOf(paged).listHeight);
  expect(under(press(paged, "PageUp")[0])).toBe("t1");
});

test("nothing moves under the cursor when tasks come, go and change their group", () => {
  let state = press(stateWith(many), ...Array.from({ length: 10 }, () => "j"))[0];
  const line = lineOf(state);
  const chosen = under(state);
  const stays = (tasks: State["tasks"]) => {
    state = withTasks(state, tasks);
    expect([under(state), lineOf(state)]).toEqual([chosen, line]);
  };
  stays([asking(90), asking(91), asking(92), ...many]);
  stays(many.slice(5));
  stays(many.filter(({ id }) => id === chosen));
  stays(many.map((each) => (each.id === chosen ? asking(each.number) : each)));
  stays([...many.slice(0, 3), ...many.slice(8)]);
});

test("the cursor is on the first task, also where the headings are known before the tasks", () => {
  const counts = { "needs-me": 1, running: 2, queued: 0, over: 9 };
  const early = stateWith([], { isLoaded: false, counts });
  const state = withTasks({ ...early, isLoaded: true }, [asking(1), row(2), row(3)]);
  expect([under(state), state.places.tasks.top]).toEqual(["t1", 0]);
});

test("lines that were hidden above are shown once no key was pressed for a while", () => {
  const state = withTasks(stateWith(many), [asking(90), ...many]);
  expect([under(state), state.places.tasks.top]).toEqual(["t1", 2]);
  expect(atTime(state, now + 9_000).places.tasks.top).toBe(2);
  const rested = atTime(state, now + 10_000);
  expect([under(rested), rested.places.tasks.top]).toEqual(["t1", 0]);
});

test("lines are never scrolled out while there is room for them, whatever comes or goes around the cursor", () => {
  /** How many of the lines are on the screen. */
  const shown = (state: State) => {
    const { listHeight } = layoutOf(state);
    const count = entriesOf(state).length;
    const { top } = state.places.tasks;
    return [Math.min(count, top + listHeight) - Math.max(0, top), Math.min(count, listHeight)];
  };
  const big = { columns: 130, rows: 40 };
  const three = [asking(2), asking(3), asking(4)];
  // The task under the cursor moves on, from the top to below the others.
  const moved = withTasks(stateWith([asking(1), row(9)], big), [...three, row(1), row(9)]);
  expect([under(moved), moved.places.tasks.top, ...shown(moved)]).toEqual(["t1", 0, 7, 7]);
  const below = press(stateWith([asking(1), ...many.slice(1, 30)], big), "End")[0];
  const fewer = withTasks(below, [asking(30), row(1), row(2)]);
  const [visible, all] = shown(fewer);
  expect([under(fewer), visible]).toEqual(["t30", all]);
  const long = press(stateWith(many, big), "End")[0];
  const shorter = withTasks(long, many.slice(20));
  expect(shown(shorter)[0]).toBe(shown(shorter)[1]);
  // So it is in a terminal that has become larger.
  const larger = settled({ ...press(stateWith(many.slice(0, 30), { rows: 24 }), "End")[0], rows: 60 });
  expect(shown(larger)).toEqual([31, 31]);
});

test("a task that is deleted under the cursor gives its place to the next one, and the person is told", () => {
  const state = press(stateWith(many.slice(0, 5)), "j")[0];
  expect(under(state)).toBe("t2");
  const after = toldGone(
    state,
    withTasks(
      state,
      many.slice(0, 5).filter(({ id }) => id !== "t2"),
    ),
  );
  expect(under(after)).toBe("t3");
  expect(lineOf(after)).toBe(lineOf(state));
  expect(after.notice?.text).toBe("coffee#2 is no longer here. This is the next one.");
  expect(under(withTasks(after, []))).toBe("");
});

test("] and [ go round the tasks that need the person, from any screen", () => {
  const state = stateWith([asking(2), asking(1), row(3), row(4)]);
  const first = press(state, "End", "]")[0];
  expect(under(first)).toBe("t1");
  expect(under(press(first, "]")[0])).toBe("t2");
  expect(under(press(first, "[")[0])).toBe("t2");
  expect(press(state, "g", "e", "]")[0].screen).toBe("tasks");
});

test("g and a letter opens a screen, and a sequence that does not exist does nothing", () => {
  const state = stateWith([row(1)]);
  for (const [key, screen] of [
    ["a", "agents"],
    ["e", "events"],
    ["p", "problems"],
    ["m", "merges"],
    ["u", "usage"],
    ["t", "tasks"],
  ] as const)
    expect(press(state, "g", key)[0].screen).toBe(screen);
  const [after, effects] = press(state, "g", "x");
  expect(effects).toEqual([]);
  expect(after.notice?.text).toMatch(/"g x" is no key/);
});

test("a task's key takes its action, for all that are selected", () => {
  const state = stateWith(many.slice(0, 3));
  expect(press(state, "m")[1]).toEqual([{ do: "press", key: "m", tasks: ["t1"] }]);
  expect(press(state, "v", "v", "x")[1]).toEqual([{ do: "press", key: "x", tasks: ["t1", "t2"] }]);
  expect(press(state, "v", "v", "Escape", "x")[1]).toEqual([{ do: "press", key: "x", tasks: ["t3"] }]);
  expect(press({ ...state, goneSince: 1 }, "m")[1]).toEqual([]);
});

test("text that follows a key whose field did not open is not read as keys, until a pause or Escape", () => {
  const gone: State = { ...stateWith([row(1), row(2)]), goneSince: 1 };
  const typed = [..."rmore beans q:x"].map((key) => (key === " " ? "Space" : key));
  const [after, effects] = press(gone, ...typed);
  expect(effects).toEqual([]);
  expect([after.overlay, after.screen, after.focus, under(after)]).toEqual([undefined, "tasks", "list", "t1"]);
  expect(after.notice?.text).toBe(
    "Keys are ignored until you pause for a second, or press Escape. The daemon does not answer, so nothing can be done: signalbox up",
  );
  // Each key begins the second anew.
  const later = press({ ...after, now: now + 900 }, "j")[0];
  expect(under(press({ ...later, now: now + 1_800 }, "j")[0])).toBe("t1");
  expect(under(press({ ...later, now: now + 1_900 }, "j")[0])).toBe("t2");
  expect(under(press(after, "Escape", "j")[0])).toBe("t2");
  expect(press(after, "Ctrl+C")[1]).toEqual([{ do: "quit" }]);
});

test("so it is while the daemon is asked, and what it refuses stays to be read; once the field is open, keys are text", () => {
  const state = stateWith([row(1), row(2)]);
  const [asked, effects] = press(state, "r", "x", "q");
  expect(effects).toEqual([{ do: "press", key: "r", tasks: ["t1"] }]);
  const refused: State = { ...asked, notice: { text: "Not now.", role: "bad", command: "" } };
  expect(press(refused, "m")[0].notice).toMatchObject({
    text: expect.stringMatching(/^Keys .* Not now\.$/),
    role: "bad",
  });
  const open: State = { ...asked, overlay: { kind: "say", ask: merge, line: { text: "", cursor: 0 }, prompt: "" } };
  expect(press(open, "h", "i", "Enter", "j")[1]).toEqual([{ do: "perform", ask: merge, text: "hi" }]);
  expect(under(press(open, "h", "i", "Enter", "j")[0])).toBe("t2");
  // Other keys go on as they are.
  expect(under(press({ ...state, goneSince: 1 }, "m", "j")[0])).toBe("t2");
});

test("only y answers a question, and only once the question was on the screen", () => {
  const asked: State = { ...stateWith([row(1)]), overlay: { kind: "confirm", ask: merge, lines: [], isArmed: false } };
  const [early, nothing] = press(asked, "y", "Enter", "y");
  expect(nothing).toEqual([]);
  expect(early.overlay?.kind).toBe("confirm");
  const armed: State = { ...asked, overlay: { kind: "confirm", ask: merge, lines: [], isArmed: true } };
  expect(press(armed, "y")[1]).toEqual([{ do: "perform", ask: merge }]);
  for (const key of ["Enter", "Y", "n", "Escape", "q", "Ctrl+C"]) {
    const [left, effects] = press(armed, key);
    expect([key, effects, left.overlay, left.notice?.text]).toEqual([key, [], undefined, "Nothing was done."]);
  }
  expect(update(armed, { kind: "paste", text: "y" }, keys)[1]).toEqual([]);
});

test("pasted text is never read as keys", () => {
  const state = stateWith([row(1)]);
  expect(update(state, { kind: "paste", text: "mxDq" }, keys)).toEqual([state, []]);
});

test("a reply is written in place and sent with Enter; an empty one is not sent", () => {
  const state = press(stateWith([asking(1)]), "Space")[0];
  const peeked: State = {
    ...state,
    overlay: { kind: "peek", task: "t1", line: { text: "", cursor: 0 }, ask: merge, screen: [] },
  };
  expect(press(peeked, "Enter")[1]).toEqual([]);
  expect(press(peeked, "h", "i", "Enter")[1]).toEqual([{ do: "perform", ask: merge, text: "hi" }]);
  expect(press(peeked, "q", "Ctrl+G")[1]).toEqual([{ do: "edit", text: "q" }]);
});

test("search narrows the list as it is typed; Enter keeps it and Escape shows all", () => {
  const state = stateWith([row(1, { summary: "Stronger coffee" }), row(2, { summary: "Tea" })]);
  const typed = press(state, "/", "t", "e", "a")[0];
  expect([typed.filter.q, under(typed)]).toEqual(["tea", "t2"]);
  expect(press(typed, "Enter")[0].filter.q).toBe("tea");
  expect(press(typed, "Escape")[0].filter.q).toBe("");
});

test("Tab goes round the list and the tabs of the detail, both ways", () => {
  const state = stateWith([row(1)]);
  const seen = (pressed: readonly string[]) => {
    const [{ focus, detail }] = press(state, ...pressed);
    return focus === "list" ? "list" : detail?.tab;
  };
  const tabs = Array.from({ length: 7 }, (_, i) => seen(Array.from({ length: i + 1 }, () => "Tab")));
  expect(tabs).toEqual(["explain", "task file", "history", "terminal", "diff", "findings", "list"]);
  expect(seen(["Backtab"])).toBe("findings");
});

test("any command of signalbox can be typed, and is completed as far as all offers agree", () => {
  const state = press(stateWith([row(1)]), ":")[0];
  const offered: State = {
    ...state,
    overlay: { kind: "command", line: { text: "task l", cursor: 6 }, offers: ["list", "launch-fixer", "logs"] },
  };
  expect(press(offered, "Tab")[1]).toEqual([{ do: "offers", text: "task l" }]);
  const one = { ...offered, overlay: { ...offered.overlay, offers: ["list"] } } as State;
  expect(press(one, "Tab")[0].overlay).toMatchObject({ line: { text: "task list " } });
  const typed = [..."task create 'a b' \"c d\""].map((key) => (key === " " ? "Space" : key));
  expect(press(state, ...typed, "Enter")[1].at(-1)).toEqual({
    do: "command",
    words: ["task", "create", "a b", "c d"],
    isQuiet: false,
  });
});

test("the dashboard can be left with q and Ctrl-C, also where the terminal is too small", () => {
  for (const key of ["q", "Ctrl+C"])
    expect(press({ ...stateWith([]), columns: 1, rows: 1 }, key)[1]).toEqual([{ do: "quit" }]);
});
