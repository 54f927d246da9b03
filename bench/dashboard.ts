// What the terminal dashboard costs, in a real tmux pane of 200 × 60: against a bare loop that reads the same streams and writes the
// lines that have changed, in the same run, so that a busy machine measures the same. Only a script can press keys evenly, so keys
// come through tmux.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { homePlaces } from "../src/home/places.ts";
import buildPrograms from "../test/build-programs.ts";
import { removeFolder } from "../test/remove-folder.ts";

const measured = 12_000;
const columns = 200;
const rows = 60;
const limits = {
  list: 2,
  preview: 2,
  previewCore: 5,
  idleCore: 0.5,
  key: 16,
  search: 50,
  bytes: 1.5,
  firstFrame: 2,
  memory: 2,
};

const remove = buildPrograms();
const { cliFile } = await import("../test/programs.ts");
const base = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
const home = join(base, "home");
mkdirSync(home, { mode: 0o700 });
const places = homePlaces(home);
mkdirSync(join(places.socket, ".."), { recursive: true, mode: 0o700 });
writeFileSync(places.humanToken, `sbh_${"0".repeat(48)}`, { mode: 0o600 });
/** Each program has a server of its own: one that ends still has its socket for a moment. */
let servers = 0;
const env = {
  PATH: process.env.PATH ?? "",
  HOME: base,
  SIGNALBOX_HOME: home,
  LANG: "C.UTF-8",
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
const tmux = (...args: readonly string[]) =>
  execFileSync("tmux", ["-S", join(base, `tmux-${servers}.sock`), "-f", "/dev/null", "-u", ...args], {
    env,
    cwd: base,
    encoding: "utf8",
  }).trim();
const daemon = spawn(process.execPath, [join(import.meta.dirname, "dashboard-daemon.ts"), places.socket], {
  stdio: ["ignore", "pipe", "inherit"],
});
await new Promise((resolve) => daemon.stdout.once("data", resolve));

let failed = false;
try {
  const version = await cpuOf(["--version"], (text) => text.includes("0."));
  const results: Record<string, Spent> = {};
  let raw = "";
  let times: Times | undefined;
  for (const round of ["list", "preview"] as const) {
    await turn(round);
    const loop = open([
      join(import.meta.dirname, "dashboard-loop.ts"),
      places.socket,
      ...(round === "preview" ? ["preview"] : []),
    ]);
    await sleep(4_000);
    results[`loop ${round}`] = await spentBy(loop);
    loop.close();

    const file = join(base, `${round}.json`);
    const dashboard = open(["--import", join(import.meta.dirname, "frame-times.ts"), cliFile, "dashboard"], {
      FRAME_TIMES: file,
    });
    await shows(/Needs you/);
    // The thirty tasks whose runs change are in sight above the cursor.
    tmux("send-keys", "-l", "/number 4");
    await sleep(500);
    tmux("send-keys", "Escape");
    await sleep(500);
    tmux("send-keys", "-N", "70", "j");
    if (round === "list") tmux("send-keys", "w", "w", "w");
    else for (let i = 0; i < 4; i++) tmux("send-keys", "Tab");
    await sleep(2_000);
    const pipe = join(base, `${round}.raw`);
    tmux("pipe-pane", "-o", `cat > ${pipe}`);
    const before = Number(await ask(`/bench?list=on${round === "preview" ? "&terminal=on" : ""}`));
    results[round] = await spentBy(dashboard);
    const sent = Number(await ask(`/bench?list=on${round === "preview" ? "&terminal=on" : ""}`)) - before;
    tmux("pipe-pane");
    if (round === "list") {
      raw = readFileSync(pipe, "utf8");
      const drawn = new Set(raw.match(/Step \d+ of/g)).size;
      row(`updates drawn of ${sent} that were sent`, `${drawn}`, drawn >= 0.7 * Math.min(sent, measured / 100));
      for (let i = 0; i < 60; i++) {
        tmux("send-keys", i % 2 === 0 ? "j" : "k");
        await sleep(40);
      }
      await ask("/bench");
      await sleep(2_000);
      results.idle = await spentBy(dashboard);
      tmux("send-keys", "-l", "/");
      await sleep(200);
      for (const letter of "number 99") {
        tmux("send-keys", "-l", letter);
        await sleep(120);
      }
      tmux("send-keys", "Escape");
      await sleep(600);
    } else tmux("send-keys", "Escape");
    await sleep(500);
    tmux("send-keys", "q");
    await shows(/ended/);
    if (round === "list") times = JSON.parse(readFileSync(file, "utf8")) as Times;
    dashboard.close();
  }

  for (const [name, { share, memory }] of Object.entries(results))
    print(name, `${share.toFixed(2)} % of a core`, `${Math.round(memory / 1024)} MB`);
  const ratio = (a: string, b: string, of: keyof Spent) => (results[a]?.[of] ?? 0) / (results[b]?.[of] ?? 1);
  row(
    "list / bare loop",
    ratio("list", "loop list", "share").toFixed(2),
    ratio("list", "loop list", "share") <= limits.list,
  );
  row(
    "preview / bare loop",
    ratio("preview", "loop preview", "share").toFixed(2),
    ratio("preview", "loop preview", "share") <= limits.preview,
  );
  row(
    "preview, % of a core",
    (results.preview?.share ?? 0).toFixed(2),
    (results.preview?.share ?? 0) <= limits.previewCore,
  );
  row("idle, % of a core", (results.idle?.share ?? 0).toFixed(2), (results.idle?.share ?? 0) <= limits.idleCore);
  row(
    "memory / bare loop",
    ratio("list", "loop list", "memory").toFixed(2),
    ratio("list", "loop list", "memory") <= limits.memory,
  );
  readRaw(raw);
  const keys = [...(times?.keys ?? [])].sort((a, b) => a - b);
  const p95 = keys[Math.floor(keys.length * 0.95)] ?? Number.POSITIVE_INFINITY;
  row(`key to frame, p95 of ${keys.length}, ms`, p95.toFixed(1), p95 <= limits.key);
  row("search, the slowest keystroke, ms", (keys.at(-1) ?? 0).toFixed(1), (keys.at(-1) ?? 0) <= limits.search);
  const first = (times?.firstFrame ?? 0) / version;
  row(`first frame / --version (${version.toFixed(0)} ms)`, first.toFixed(2), first <= limits.firstFrame);
} finally {
  daemon.kill("SIGKILL");
  try {
    tmux("kill-server");
  } catch {}
  removeFolder(base);
  remove?.();
}
process.exit(failed ? 1 : 0);

interface Times {
  readonly keys: readonly number[];
  readonly firstFrame: number;
  readonly frames: number;
}

interface Spent {
  /** Percent of a core. */
  readonly share: number;
  /** Kilobytes. */
  readonly memory: number;
}

/** Clears, frames and bytes of what the dashboard has written. */
function readRaw(text: string): void {
  const frames = text.split("\u001b[?2026h").length - 1;
  // Without the escape characters, whose sequences are easier to tell apart by these.
  const marked = text.replaceAll("\u001b[?2026h", "⟦").replaceAll("\u001b[?2026l", "⟧").replaceAll("\u001b", "␛");
  const outside = marked.replace(/⟦[^⟧]*⟧/g, "");
  const clears = marked.split("␛[2J").length - 1;
  const lines = marked.split(/␛\[\d+;1H/).slice(1);
  const visible = lines.reduce((sum, line) => sum + line.replace(/␛\[[\d;]*[A-Za-z]|⟦|⟧/g, "").length, 0);
  row("clears while it ran", String(clears), clears === 0);
  row("bytes outside of synchronized frames", String(outside.length), outside.length < 4_096 && !outside.includes("H"));
  row("frames a second", ((frames * 1_000) / measured).toFixed(1), frames <= (measured / 1_000) * 11);
  row(
    "bytes / characters of the changed lines",
    (text.length / visible).toFixed(2),
    text.length / visible <= limits.bytes,
  );
}

/** Opens a program in the pane. */
function open(argv: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const set = Object.entries({ ...env, ...more }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const words = ["env", "-i", "TERM=tmux-256color", ...set, process.execPath, ...argv]
    .map((word) => `'${word}'`)
    .join(" ");
  servers++;
  const line = `${words}; echo ended; exec sleep 600`;
  tmux(
    "set-option",
    "-g",
    "status",
    "off",
    ";",
    "new-session",
    "-d",
    "-s",
    "bench",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "sh",
    "-c",
    line,
  );
  return {
    pid() {
      const shell = tmux("display-message", "-p", "#{pane_pid}");
      return (
        execFileSync("ps", ["-o", "pid=", "--ppid", shell], { encoding: "utf8" }).trim().split("\n")[0]?.trim() ?? ""
      );
    },
    close: () => tmux("kill-server"),
  };
}

async function shows(what: RegExp): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (what.test(tmux("capture-pane", "-p"))) return;
    await sleep(100);
  }
  throw new Error(`The pane does not show ${what}:\n${tmux("capture-pane", "-p")}`);
}

async function spentBy({ pid }: { pid(): string }): Promise<Spent> {
  const id = pid();
  const seconds = () => {
    const fields = readFileSync(`/proc/${id}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  const [before, start] = [seconds(), performance.now()];
  await sleep(measured);
  const share = ((seconds() - before) * 100_000) / (performance.now() - start);
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "latin1"))?.[1]);
  return { share, memory };
}

/** The processor time of a command until it has ended, as it counts it itself: the least of three. */
async function cpuOf(args: readonly string[], isGood: (text: string) => boolean): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4; i++) {
    const file = join(base, "times.json");
    const text = execFileSync(
      process.execPath,
      ["--import", join(import.meta.dirname, "frame-times.ts"), cliFile, ...args],
      {
        env: { ...env, FRAME_TIMES: file },
        cwd: base,
        encoding: "utf8",
      },
    );
    if (!isGood(text) || statSync(file).size === 0) throw new Error(text);
    least = Math.min(least, (JSON.parse(readFileSync(file, "utf8")) as { total: number }).total);
  }
  return least;
}

async function turn(round: "list" | "preview"): Promise<void> {
  await ask(`/bench?list=on${round === "preview" ? "&terminal=on" : ""}`);
}

function ask(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath: places.socket, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    })
      .on("error", reject)
      .end();
  });
}

function row(name: string, figure: string, isGood: boolean): void {
  if (!isGood) failed = true;
  print(name, figure, isGood ? "" : "too much");
}

function print(...parts: readonly string[]): void {
  process.stdout.write(`${parts.filter(Boolean).join("  ")}\n`);
}
