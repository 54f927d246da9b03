import { systemClock } from "./adapters/clock/system-clock.ts";
import { spawnCommands } from "./adapters/commands/spawn-commands.ts";
import { all } from "./adapters/notifier/all.ts";
import { command } from "./adapters/notifier/command.ts";
import { desktop, hasDesktop } from "./adapters/notifier/desktop.ts";
import { terminal } from "./adapters/notifier/terminal.ts";
import { webhook } from "./adapters/notifier/webhook.ts";
import type { Config } from "./home/config-fields.ts";
import type { Log } from "./ports/log.ts";
import type { Channels, Notifier } from "./ports/notifier.ts";

export interface NotifierPorts {
  readonly env: NodeJS.ProcessEnv;
  /** What commands may see of it. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Fires when what is under way is to be ended. */
  readonly signal: AbortSignal;
  readonly home: string;
  /** Ends everybody who was started with this entry, `NAME=value`, in the environment. */
  sweep(entry: string): Promise<void>;
  config(): Pick<Config, "notifyDesktop" | "notifyWebhook" | "notifyWebhookSecretEnv" | "notifyCommand">;
}

/** Where the person is told things, as it is configured now. Without a desktop session there is no desktop. */
export function notifyChannels({ env, inherited, config, signal, home, sweep }: NotifierPorts): () => Channels {
  return () => {
    const { notifyDesktop, notifyWebhook: url, notifyWebhookSecretEnv, notifyCommand: argv } = config();
    const secret = notifyWebhookSecretEnv === "" ? undefined : env[notifyWebhookSecretEnv];
    const channels = new Map<string, Notifier>();
    const { platform } = process;
    if (notifyDesktop && hasDesktop(platform, env))
      channels.set("desktop", desktop({ commands: spawnCommands, platform, env, signal }));
    if (url !== "")
      channels.set(
        "webhook",
        webhook({ url, signal, now: systemClock.now, ...(secret === undefined ? {} : { secret }) }),
      );
    if (argv.length > 0)
      channels.set("command", command({ commands: spawnCommands, argv, env: inherited, signal, home, sweep }));
    if (process.stderr.isTTY)
      channels.set("terminal", terminal({ write: (text) => process.stderr.write(text), isTTY: true, env }));
    return channels;
  };
}

/** All channels as one, for what workflows tell. */
export function notifierOf(channels: () => Channels, log: Log): Notifier {
  return {
    notify: (note) =>
      all([...channels().values()], (error) => log.warn("One way to tell the person failed", { error })).notify(note),
  };
}
