// Opens a window as the daemon would, in a separate process that can be killed.
import { createTmux } from "../../src/adapters/tmux/tmux.ts";
import type { WindowOrder } from "../../src/ports/terminal.ts";
import { procTable } from "./proc-table.ts";

interface Opening {
  readonly socket: string;
  readonly program: string;
  readonly launcher: readonly string[];
  readonly order: WindowOrder;
}

const { order, ...tmux }: Opening = JSON.parse(process.argv[2] ?? "");
await createTmux({ ...tmux, table: procTable }).open(order);
