import type { Page } from "playwright-core";

/** One row that a page has drawn with a new text. */
export interface Drawn {
  readonly row: number;
  readonly turn: number;
  /** When the frame was painted, in milliseconds of the clock that Node has too. */
  readonly at: number;
}

export interface PageWork {
  /** Processor seconds of the page's main thread. */
  readonly busy: number;
  readonly drawn: readonly Drawn[];
  /** Milliseconds of each task that took more than 50. */
  readonly longTasks: readonly number[];
}

/** Watches what a page draws of rows whose text is `summaryOf`, and what that costs its main thread. */
export async function watchPage(page: Page) {
  const session = await page.context().newCDPSession(page);
  // The thread's own time: a busy machine measures the same.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(watcher);
  const busy = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  return {
    /** The work of the page while something happens. */
    async during(run: () => Promise<unknown>): Promise<PageWork> {
      await page.evaluate("benchTaken()");
      const before = await busy();
      await run();
      const after = await busy();
      const taken = (await page.evaluate("benchTaken()")) as Omit<PageWork, "busy">;
      return { ...taken, busy: after - before };
    },
    /** Bytes that live on the page's heap. */
    async heap(): Promise<number> {
      await session.send("HeapProfiler.enable");
      for (let i = 0; i < 3; i++) await session.send("HeapProfiler.collectGarbage");
      await session.send("HeapProfiler.disable");
      return (await session.send("Runtime.getHeapUsage")).usedSize;
    },
    /** How many elements there are, and how many of them can be seen. */
    async rows(selector: string): Promise<{ readonly drawn: number; readonly visible: number }> {
      return page.evaluate(`(() => {
        const all = [...document.querySelectorAll(${JSON.stringify(selector)})];
        const isVisible = (each) => {
          const { top, left, bottom, right } = each.getBoundingClientRect();
          return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
        };
        return { drawn: all.length, visible: all.filter(isVisible).length };
      })()`);
    },
  };
}

/** Runs in the page. A text: it is compiled for browsers, and this folder is not. */
const watcher = `(() => {
  let drawn = [], longTasks = [];
  const pattern = /^Brew (\\d+) cups of coffee, try (\\d+)\\.$/;
  const read = (node, found) => {
    const match = node.nodeType === 3 ? pattern.exec(node.data) : null;
    if (match) found.push({ row: Number(match[1]), turn: Number(match[2]) });
    else for (const child of node.childNodes) read(child, found);
  };
  new MutationObserver((records) => {
    const found = [];
    for (const record of records) {
      if (record.type === "characterData") read(record.target, found);
      for (const node of record.addedNodes) read(node, found);
    }
    if (found.length === 0) return;
    // The frame in which it is painted ends before the next task.
    requestAnimationFrame(() => setTimeout(() => {
      const at = performance.timeOrigin + performance.now();
      for (const each of found) drawn.push({ ...each, at });
    }));
  }).observe(document.body, { characterData: true, childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration);
  }).observe({ type: "longtask" });
  globalThis.benchTaken = () => {
    const taken = { drawn, longTasks };
    drawn = []; longTasks = [];
    return taken;
  };
})()`;
