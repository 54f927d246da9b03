import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Pane } from "../../src/ports/terminal.ts";
import { hostileTexts, type TerminalStage } from "./stage.ts";
import { until } from "./until.ts";

const esc = "\x1b";

/** The contract of every terminal. */
export function terminalContract(name: string, createStage: () => Promise<TerminalStage>): void {
  describe(name, () => {
    let stage: TerminalStage;
    beforeEach(async () => {
      stage = await createStage();
    });
    afterEach(() => stage.clear());

    const paneOf = async (run: string) => (await stage.terminal.list()).find((pane) => pane.run === run);
    const untilDead = (run: string) =>
      until(
        () => paneOf(run),
        (pane) => pane?.dead !== undefined,
      );

    test("an opened window is in the list, with a live program", async () => {
      const pane = await stage.open({ run: "r-1", session: "task-1", window: "review-1" });
      expect(pane).toMatchObject({ run: "r-1", session: "task-1", window: "review-1", dead: undefined, watchers: 0 });
      expect(pane.pid).toBeGreaterThan(0);
      expect(await stage.terminal.list()).toMatchObject([{ run: "r-1", pid: pane.pid, dead: undefined }]);
    });

    test("without windows the list is empty", async () => {
      expect(await stage.terminal.list()).toEqual([]);
    });

    test("a run that is opened again, or twice concurrently, has one program", async () => {
      const order = stage.orderOf({ run: "7" });
      const first = await Promise.all([1, 2, 3, 4].map(() => stage.terminal.open(order)));
      await stage.open({ run: "7" });
      await stage.open({ run: "8" });
      const again = await stage.terminal.open(order);
      expect(new Set([...first, again].map(({ pid }) => pid)).size).toBe(1);
      expect(await stage.starts("7")).toBe(1);
      expect((await stage.terminal.list()).map(({ run }) => run)).toEqual(["7", "8"]);
    });

    test("opening a run whose program has ended returns a dead pane, and does not start it again", async () => {
      await stage.open({ run: "r-1" });
      await stage.end("r-1", { code: 3 });
      await untilDead("r-1");
      expect(await stage.terminal.open(stage.orderOf({ run: "r-1" }))).toMatchObject({ dead: { code: 3, signal: "" } });
      expect(await stage.starts("r-1")).toBe(1);
    });

    test("opening a run whose window was closed returns a dead pane, and does not start it again", async () => {
      const { pid } = await stage.open({ run: "r-1" });
      await stage.terminal.close("r-1");
      const pane = await stage.terminal.open(stage.orderOf({ run: "r-1" }));
      expect(pane).toMatchObject({ run: "r-1", pid, dead: { code: undefined, signal: "" } });
      expect(await stage.terminal.list()).toEqual([]);
      expect(await stage.starts("r-1")).toBe(1);
    });

    test("the exit code or signal of a program is reported exactly", async () => {
      const ends = [{ code: 0 }, { code: 1 }, { code: 255 }, { signal: "SIGKILL" }, { signal: "SIGTERM" }] as const;
      for (const [index, how] of ends.entries()) {
        const run = `r-${index}`;
        await stage.open({ run });
        await stage.end(run, how);
        expect((await untilDead(run))?.dead).toEqual({ code: undefined, signal: "", ...how });
      }
    });

    test("the screen of a program can be read, with scrollback if requested", async () => {
      await stage.open({ run: "r-1" });
      await stage.print("r-1", Array.from({ length: 200 }, (_, index) => `line ${index}.`).join("\n"));
      const screen = await until(
        () => stage.terminal.capture("r-1"),
        (text) => text.includes("line 199."),
      );
      expect(screen).not.toContain("line 100.");
      const more = await stage.terminal.capture("r-1", 120);
      expect(more).toContain("line 100.");
      expect(more).not.toContain("line 10.");
      expect(await stage.terminal.capture("r-1", 10_000)).toContain("line 10.");
    });

    test("a plain screen has no control characters, and a styled screen only styles", async () => {
      await stage.open({ run: "r-1" });
      await stage.print("r-1", "\x1b[1;31mred\x1b[0m and \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ end\n");
      const plain = await until(
        () => stage.terminal.capture("r-1"),
        (text) => text.includes("end"),
      );
      expect(plain).toContain("red and link end");
      expect(plain).toMatch(/^[^\p{Cc}]*(?:\n[^\p{Cc}]*)*$/u);
      const styled = await stage.terminal.captureStyled("r-1");
      expect(styled).toMatch(new RegExp(`${esc}\\[[0-9;]*31m`));
      expect(styled.replaceAll(new RegExp(`${esc}\\[[0-9;:]*m`, "g"), "")).toMatch(/^[^\p{Cc}]*(?:\n[^\p{Cc}]*)*$/u);
    });

    test("the program's title is reported", async () => {
      await stage.open({ run: "r-1" });
      expect((await paneOf("r-1"))?.title).toBe("");
      for (const title of ["✳ Ready", "a #(touch PWNED) b; #{pane_id} 0 1 2"]) {
        await stage.call("r-1", title);
        await until(
          () => paneOf("r-1"),
          (pane) => pane?.title === title,
        );
      }
    });

    test("a text arrives as one paste, without characters that could end it", async () => {
      await stage.open({ run: "r-1" });
      await stage.terminal.paste("r-1", "one\n\ttwo; #(x)\r\nthree\x1b[201~\x9b\x00\x03\x7f ж🚂;");
      await stage.terminal.press("r-1", ["ж", "Enter", ";", "C-u"]);
      await stage.terminal.paste("r-1", "\x1b");
      await until(
        () => stage.received("r-1"),
        (text) => text.endsWith("\x15"),
      );
      expect(await stage.received("r-1")).toBe("<one\n\ttwo; #(x)\nthree[201~ ж🚂;>ж\r;\x15");
    });

    test("only keys can be pressed", async () => {
      await stage.open({ run: "r-1" });
      for (const key of ["Return please", "", "-t", "C-", "\x1b", "жж", "\u200b", "\u00a0"])
        await expect(stage.terminal.press("r-1", [key])).rejects.toMatchObject({ code: "terminal.key" });
      expect(await stage.received("r-1")).toBe("");
    });

    test("input for a program that has ended or never existed is refused", async () => {
      await stage.open({ run: "r-1" });
      await stage.open({ run: "r-2" });
      await stage.end("r-1", { code: 0 });
      await untilDead("r-1");
      await expect(stage.terminal.paste("r-1", "x")).rejects.toMatchObject({ code: "terminal.ended" });
      await expect(stage.terminal.press("r-1", ["Enter"])).rejects.toMatchObject({ code: "terminal.ended" });
      await expect(stage.terminal.paste("r", "x")).rejects.toMatchObject({ code: "terminal.gone" });
      await expect(stage.terminal.press("r", ["Enter"])).rejects.toMatchObject({ code: "terminal.gone" });
      await expect(stage.terminal.capture("r")).rejects.toMatchObject({ code: "terminal.gone" });
      expect((await paneOf("r-2"))?.dead).toBeUndefined();
    });

    test("closing removes the named session only, not those with similar names", async () => {
      await stage.open({ run: "r-1", session: "task-1" });
      await stage.open({ run: "r-2", session: "task-1" });
      await stage.open({ run: "r-10", session: "task-10" });
      await stage.terminal.close("r-1");
      await stage.terminal.close("r-1");
      await stage.terminal.close("r");
      expect((await stage.terminal.list()).map(({ run }) => run)).toEqual(["r-2", "r-10"]);
      await stage.terminal.closeSession("task-1");
      await stage.terminal.closeSession("task-1");
      await stage.terminal.closeSession("task");
      expect(await stage.terminal.list()).toMatchObject([{ run: "r-10", session: "task-10", dead: undefined }]);
    });

    test("a window's name is returned unchanged, whatever it contains", async () => {
      for (const [index, text] of hostileTexts.entries()) {
        const pane: Pane = await stage.terminal.open(stage.orderOf({ run: `r-${index}`, window: text, title: text }));
        expect(pane.window).toBe(text);
        await stage.terminal.setTitle("s-1", text);
      }
      expect((await stage.terminal.list()).map(({ window }) => window)).toEqual(hostileTexts);
    });

    test("setting the title of a missing session does nothing", async () => {
      await stage.terminal.setTitle("s-1", "x");
      expect(await stage.terminal.list()).toEqual([]);
    });

    test("an invalid id is refused", async () => {
      for (const id of ["", "A", "a.b", "a:b", "a b", "#(touch PWNED)", "=a", "ä", "a\n", "x".repeat(5000)]) {
        const refused = { code: "terminal.id" };
        await expect(stage.terminal.open(stage.orderOf({ run: id }))).rejects.toMatchObject(refused);
        await expect(stage.terminal.open(stage.orderOf({ run: "r", session: id }))).rejects.toMatchObject(refused);
        await expect(stage.terminal.capture(id)).rejects.toMatchObject(refused);
        await expect(stage.terminal.close(id)).rejects.toMatchObject(refused);
        await expect(stage.terminal.closeSession(id)).rejects.toMatchObject(refused);
        await expect(stage.terminal.setTitle(id, "")).rejects.toMatchObject(refused);
        expect(() => stage.terminal.attachCommand({ session: id }, {})).toThrow(expect.objectContaining(refused));
      }
      expect(await stage.terminal.list()).toEqual([]);
    });

    test("a watcher is called when a program ends, until it stops watching", async () => {
      await stage.open({ run: "r-1" });
      await stage.open({ run: "r-2" });
      await stage.open({ run: "r-3" });
      const seen: (readonly (string | undefined)[])[] = [];
      let calls = 0;
      const stop = stage.terminal.watch(async () => {
        calls++;
        const panes = await stage.terminal.list();
        seen.push(panes.filter(({ dead }) => dead).map(({ run }) => run));
      });
      for (const run of ["r-1", "r-2"]) {
        await stage.end(run, { signal: "SIGKILL" });
        await until(
          async () => seen.at(-1) ?? [],
          (runs) => runs.includes(run),
        );
      }
      stop();
      const before = calls;
      await stage.end("r-3", { code: 0 });
      await untilDead("r-3");
      expect(calls).toBe(before);
    });

    test("watchers are notified when the server dies, its windows are gone, and a new server can follow", async () => {
      await stage.open({ run: "r-1" });
      await stage.open({ run: "r-0" });
      const seen: (readonly Pane[])[] = [];
      const stop = stage.terminal.watch(async () => void seen.push(await stage.terminal.list()));
      const untilSeen = (will: (panes: readonly Pane[]) => boolean) =>
        until(
          async () => seen.at(-1),
          (panes) => panes !== undefined && will(panes),
        );
      // A watch may begin with an extra call; after the first death there is none.
      await stage.end("r-0", { code: 0 });
      await untilSeen((panes) => panes.some(({ dead }) => dead !== undefined));
      await stage.loseServer();
      await untilSeen((panes) => panes.length === 0);
      expect(await stage.terminal.list()).toEqual([]);
      await stage.terminal.close("r-1");
      await stage.terminal.setTitle("s-1", "x");
      expect((await stage.open({ run: "r-2" })).dead).toBeUndefined();
      await stage.end("r-2", { code: 1 });
      await untilSeen((panes) => panes.some(({ run, dead }) => run === "r-2" && dead !== undefined));
      expect((await stage.terminal.open(stage.orderOf({ run: "r-1" }))).dead).toEqual({ code: undefined, signal: "" });
      expect(await stage.starts("r-1")).toBe(1);
      stop();
    });
  });
}
