import { describe, expect, test } from "vitest";
import { Fault } from "../../fault.ts";
import { createWebDoor } from "./web-door.ts";

/** A door at simulated ports, of which some are taken. */
function startDoor({ taken = [], chosen = 0 }: { readonly taken?: readonly number[]; readonly chosen?: number } = {}) {
  const open = new Set<number>();
  const errors: string[] = [];
  let kept = chosen;
  let ended = 0;
  const log = { info: () => {}, error: (message: string) => void errors.push(message) };
  const door = createWebDoor({
    listen: async (wanted) => {
      const port = wanted === 0 ? 50_000 : wanted;
      if (taken.includes(port))
        throw new Fault("daemon.listen", "taken", { cause: Object.assign(new Error(), { code: "EADDRINUSE" }) });
      if (port === 80) throw new Fault("daemon.listen", "forbidden", { cause: new Error() });
      open.add(port);
      return { address: `127.0.0.1:${port}`, close: async () => void open.delete(port) };
    },
    log: log as never,
    chosen: {
      read: () => kept,
      write: (port) => {
        kept = port;
      },
    },
    publicOrigin: () => "",
    onTaken: async () => {
      ended++;
    },
  });
  return { door, errors, ports: () => [...open], kept: () => kept, ended: () => ended };
}

describe("the port for browsers", () => {
  test("is closed until a link needs it, then the first free one, which is kept", async () => {
    const { door, ports, kept } = startDoor({ taken: [4711, 4712] });
    await door.use(0);
    expect([ports(), door.address()]).toEqual([[], ""]);
    expect(await Promise.all([door.open(), door.open()])).toEqual(["127.0.0.1:4713", "127.0.0.1:4713"]);
    expect([ports(), kept()]).toEqual([[4713], 4713]);
    // The configuration was read again, and has none still.
    await door.use(0);
    expect(ports()).toEqual([4713]);
  });

  test("is any other if the preferred ones are taken", async () => {
    const { door, kept } = startDoor({ taken: [4711, 4712, 4713, 4714, 4715, 4716, 4717, 4718, 4719] });
    expect([await door.open(), kept()]).toEqual(["127.0.0.1:50000", 50_000]);
  });

  test("is the one of the earlier daemon; if that is taken, sessions end, and the next link gets another", async () => {
    const same = startDoor({ chosen: 4715 });
    await same.door.use(0);
    expect([same.ports(), same.ended()]).toEqual([[4715], 0]);
    const other = startDoor({ chosen: 4715, taken: [4715] });
    await other.door.use(0);
    expect([other.ports(), other.ended(), other.errors]).toEqual([[], 1, ["Browsers cannot be served"]]);
    expect([await other.door.open(), other.kept()]).toEqual(["127.0.0.1:4711", 4711]);
  });

  test("is the configured one while there is one", async () => {
    const { door, ports, kept } = startDoor();
    await door.open();
    await door.use(9_000);
    expect([ports(), door.address(), kept()]).toEqual([[9_000], "127.0.0.1:9000", 4711]);
    await door.close();
    expect([ports(), kept()]).toEqual([[9_000], 0]);
    await door.use(0);
    expect(ports()).toEqual([]);
  });

  test("that is configured and not available is an answer to the link, not another port", async () => {
    const { door, ports, ended } = startDoor({ taken: [9_000] });
    await door.use(9_000);
    await expect(door.open()).rejects.toMatchObject({ code: "daemon.listen" });
    expect([ports(), ended()]).toEqual([[], 1]);
    const forbidden = startDoor();
    await forbidden.door.use(80);
    expect(forbidden.ended()).toBe(0);
    await forbidden.door.use(9_001);
    expect(forbidden.ports()).toEqual([9_001]);
  });

  test("is closed and forgotten on request, and closed when the daemon stops", async () => {
    const { door, ports, kept } = startDoor();
    await door.open();
    await door.close();
    await door.stop();
    expect([ports(), door.address(), kept()]).toEqual([[], "", 0]);
    await door.open();
    await door.stop();
    expect([ports(), kept()]).toEqual([[], 4711]);
  });
});
