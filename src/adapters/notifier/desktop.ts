import { Fault } from "../../fault.ts";
import type { CommandResult, Commands } from "../../ports/commands.ts";
import type { Note, Notifier } from "../../ports/notifier.ts";
import { shownText } from "./shown-text.ts";

export interface DesktopOptions {
  readonly commands: Commands;
  /** As in `process.platform`. */
  readonly platform: string;
  /** Our own environment; the program sees what it needs of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** When it fires, what is under way is ended. */
  readonly signal?: AbortSignal;
}

const timeout = 10_000;

/** What leads to the desktop of the person, and nothing else of ours. */
const needed = ["PATH", "HOME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/** Whether this process belongs to a desktop session at all: who logs in from afar has none. */
export function hasDesktop(platform: string, env: DesktopOptions["env"]): boolean {
  if (platform === "darwin") return (env.SSH_CONNECTION ?? "") === "";
  return platform === "linux" && ((env.DISPLAY ?? "") !== "" || (env.WAYLAND_DISPLAY ?? "") !== "");
}

/** Shows notes on the desktop: `notify-send` on Linux, `osascript` on macOS. */
export function desktop({ commands, platform, env, signal }: DesktopOptions): Notifier {
  const stopping = signal === undefined ? {} : { signal };
  return {
    async notify(note) {
      const argv = argvOf(platform, note);
      const [program = ""] = argv;
      const seen = Object.fromEntries(needed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
      const { code, timedOut, output } = await run(commands, { argv, cwd: "/", env: seen, timeout, ...stopping });
      if (code === 0) return;
      const how = timedOut ? `did not end within ${timeout / 1000} s` : `ended with ${code ?? "a signal"}`;
      const said = shownText(output, 300);
      throw new Fault("notifier.failed", `"${program}" ${how}${said === "" ? "." : `: ${said}`}`, {
        retry: timedOut ? "later" : "never",
        hint: "Check that a desktop is running for this user, or use a webhook.",
      });
    },
  };
}

function argvOf(platform: string, { title, text }: Note): readonly string[] {
  const head = shownText(title, 200) || "Signalbox";
  const body = shownText(text, 1_000);
  if (platform === "linux") return ["notify-send", "--app-name=Signalbox", "--", head, literal(body)];
  if (platform === "darwin") return ["osascript", ...script.flatMap((line) => ["-e", line]), "--", head, body];
  throw new Fault("notifier.missing", `Signalbox cannot show notes on the desktop of "${platform}".`, {
    hint: "Use a webhook.",
  });
}

/** The texts are arguments of the script, never a part of it. */
const script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];

/** notify-send reads backslashes in the body as escapes, and desktops read it as markup. */
function literal(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

async function run(commands: Commands, command: Parameters<Commands["run"]>[0]): Promise<CommandResult> {
  try {
    return await commands.run(command);
  } catch (error) {
    if (!(error instanceof Fault) || (error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    const [program = ""] = command.argv;
    const where = program === "notify-send" ? ` Install the package ${packages}.` : " It is a part of macOS.";
    throw new Fault("notifier.missing", `The program "${program}" is missing.${where}`, { cause: error });
  }
}

const packages = '"libnotify-bin" (Debian, Ubuntu), "libnotify" (Fedora, Arch) or "libnotify-tools" (openSUSE)';
