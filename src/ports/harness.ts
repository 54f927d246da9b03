import type { ToolClass } from "../engine/tools.ts";
import type { ProcessEnd } from "./processes.ts";

/** A program that agents run in. The adapter knows its flags, files and messages; it starts nothing itself. */
export interface Harness {
  /** The name in configurations: `claude`. */
  readonly name: string;
  /** The name for people: `Claude Code`. */
  readonly title: string;
  readonly can: Capabilities;
  /** It follows a script instead of a model, so a person need not allow it full permissions. */
  readonly isScripted?: true;
  /** It cannot resume a session without a prompt. */
  readonly needsPrompt?: true;
  /** Checks whether it is installed. */
  detect(): Promise<Detected>;
  /**
   * Prepares a run, and returns what to start. May write into the run's own folder, and into the program's
   * configuration so that it starts without questions. Idempotent.
   */
  prepare(order: HarnessOrder): Promise<Launch>;
  /** Reads a turn's output. `at` is from its order: `prepare` may have stored notes there that this needs. */
  readOutput(at: Pick<HarnessOrder, "run" | "runFolder">): OutputReader;
  /** Reads one line of the run's `events` file, which hooks write. */
  readEvidence(line: string): readonly HarnessEvent[];
  /** Reads one line of a session's transcript. `readEvidence` must not report the same things, or they count twice. */
  readTranscript(line: string): readonly HarnessEvent[];
  /** The default path of a session's transcript, for when no hook has reported it; empty if there is none. */
  transcriptOf(session: string, folder: string): Promise<string>;
  /** Interprets the screen of an interactive run. Weak evidence: a program may change its wording any day. */
  readScreen(screen: string, title: string): ScreenState;
  /**
   * What prevents the program from working until a person acts, as shown on its screen or printed before it ended;
   * undefined if there is no such message.
   */
  readObstacle?(text: string): Obstacle | undefined;
  /** The files that the program needs in a sandbox, besides its workspace and the run's folder; missing for none. */
  folders?(order: HarnessOrder): Promise<HarnessFolders>;
  /** It needs the network to work. */
  readonly needsNetwork?: true;
  /** The hosts that it needs, if it works through an HTTP proxy; missing if it does not, or needs none. */
  readonly hosts?: readonly string[];
  /** Checks whether the program is logged in, and says how to log in if not. */
  login?(): Promise<{ readonly state: "in" | "out" | "unknown"; readonly hint: string }>;
}

/** Absolute paths; those that do not exist are left out. */
export interface HarnessFolders {
  readonly read?: readonly string[];
  /** Only what the program must keep for later runs, such as conversations and a refreshed login. */
  readonly write?: readonly string[];
  /** Folders that the program finds empty and writes to; their content is lost when it ends. */
  readonly own?: readonly string[];
  /** What the program finds empty and cannot read. */
  readonly hidden?: readonly string[];
  /** A writable file or folder at another path than its own. */
  readonly placed?: readonly { readonly from: string; readonly at: string }[];
  /** Its own sandbox needs namespaces inside of ours. */
  readonly nests?: boolean;
}

export interface Obstacle {
  /** session: the session to resume does not exist. */
  readonly kind: "login" | "trust" | "update" | "session";
  /** A sentence for people, with the command that fixes it. */
  readonly told: string;
}

/**
 * The state of an interactive agent. `starting`: not ready for input yet. `asks`: a dialog that only a person may
 * answer.
 */
export type ScreenState = "starting" | "ready" | "busy" | "asks" | "unknown";

export interface Detected {
  readonly found: boolean;
  /** The program's path; empty if it is not installed. */
  readonly path: string;
  readonly version: string;
  /** What a person should know or do; empty if there is nothing. */
  readonly hint: string;
}

/** The features that a harness supports. Plain data: the table in the documents is generated from it. */
export interface Capabilities {
  /** A person can attach to it. */
  readonly session: boolean;
  /** It answers without a terminal. */
  readonly turn: boolean;
  readonly resume: boolean;
  /** The daemon can choose the session's id, so that it is known before the program starts. */
  readonly namesSession: boolean;
  readonly model: boolean;
  readonly effort: boolean;
  /** How `reduced` permissions are enforced: by the program's own sandbox or rules, or only by words in the prompt. */
  readonly reduced: "enforced" | "asked";
  /** The classes of tools that can be disabled. */
  readonly withholds: readonly ToolClass[];
  /** Tools can be allowed one by one, not only by class. */
  readonly toolsByName: boolean;
  /** It can force its answer to fit a JSON schema. */
  readonly schema: boolean;
  /** It accepts a system prompt. */
  readonly system: boolean;
  readonly mcp: boolean;
  /** The evidence that a message was delivered. */
  readonly acknowledges: "hook" | "transcript" | "stream" | "no";
  readonly tokens: boolean;
  readonly cost: boolean;
}

export interface HarnessOrder {
  /** `[a-z0-9-]+`. */
  readonly run: string;
  /** `steps` and `dialogue` are turns that resume one another. */
  readonly mode: "session" | "turn";
  readonly prompt: string;
  /** The system prompt; empty for none. If the harness does not accept one, it is put before the prompt. */
  readonly system: string;
  /** Where it works. */
  readonly folder: string;
  /** The run's own folder, outside the workspace; nothing else writes to it. */
  readonly runFolder: string;
  /** Empty for the harness's default. */
  readonly model: string;
  /** Empty for the harness's default. */
  readonly effort: string;
  /** reduced: read, search, read-only git, the test command, its task file and our command line; nothing else. */
  readonly permissions: "full" | "reduced";
  /** Classes and names of tools, as `chooseTools` reads them; undefined for all that the permissions allow. */
  readonly tools: readonly string[] | undefined;
  /** The absolute path of the file that a run with reduced permissions may write; empty if there is none. */
  readonly taskFile: string;
  /** The test command that a run with reduced permissions may run; empty if unknown. */
  readonly testCommand: readonly string[];
  /** The name of Signalbox's command line in the run's PATH. */
  readonly cli: string;
  /** `new`: the id for a new session, if the daemon can choose it. */
  readonly session: { readonly kind: "new" | "resume"; readonly id: string };
  /** The JSON schema of the answer; undefined if any text is accepted. */
  readonly schema: unknown;
  /** Signalbox's MCP server; undefined if the run has none. */
  readonly mcp: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
  /** The command to run for each hook, with a JSON text on its standard input or as its last argument. */
  readonly hook: readonly string[];
  /** US dollars that the program may use, if it supports a limit; undefined for no limit. */
  readonly costLimit: number | undefined;
  /** The inherited variables and those of every run: `PATH`, `SIGNALBOX_TOKEN`, … The adapter adds its own. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Launch {
  readonly argv: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A turn's standard input; empty for none. */
  readonly input: string;
  /** The prompt to send as a message once the program is ready; empty if it is among the arguments. */
  readonly message: string;
  /** The id that the session will have; empty if the program chooses it. */
  readonly session: string;
}

/** Reads a program's output, in pieces of any size. */
export interface OutputReader {
  push(chunk: Uint8Array): readonly HarnessEvent[];
  /** The program has ended; `errors` is the end of its standard error. */
  end(end: ProcessEnd, errors: string): TurnEnd;
}

/** How a turn ended. */
export interface TurnEnd {
  /** The last text that it said; empty if it said nothing. */
  readonly text: string;
  /** The answer if it came as data; undefined if it must be found in the text. */
  readonly answer: unknown;
  /** Undefined if the turn succeeded. */
  readonly error: HarnessError | undefined;
  /** Further events from the end of the output. */
  readonly events: readonly HarnessEvent[];
}

/** Something learnt about a run, from any source. */
export type HarnessEvent =
  /** The session's id, and its transcript's path; empty if unknown. */
  | { readonly kind: "session"; readonly id: string; readonly transcript: string }
  /** A prompt or a message has arrived in the conversation. */
  | { readonly kind: "prompted"; readonly text: string }
  /** It is working; `what` describes the work in a few words, or is empty. */
  | { readonly kind: "busy"; readonly what: string }
  | { readonly kind: "tool"; readonly name: string; readonly state: "began" | "ended" }
  | { readonly kind: "said"; readonly text: string }
  /** Its turn is over, and it waits for the next message. */
  | { readonly kind: "idle"; readonly said: string }
  /** A dialog waits for a person. */
  | { readonly kind: "asks"; readonly about: string }
  /** Usage since the previous such event. */
  | { readonly kind: "usage"; readonly usage: TokenUsage }
  | { readonly kind: "failed"; readonly error: HarnessError }
  /** The session was ended normally. */
  | { readonly kind: "over" };

export interface TokenUsage {
  readonly model: string;
  /** Without cached tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** US dollars. Undefined if not reported: unknown is not zero. */
  readonly cost: number | undefined;
}

export interface HarnessError {
  /**
   * session-in-use: another process has it open. session-unknown: it cannot be resumed. overflow: the conversation is
   * too long. refusal: the model refused. denied: it needed a tool that its permissions withhold. server: the provider
   * failed.
   */
  readonly kind:
    | "session-in-use"
    | "session-unknown"
    | "authentication"
    | "rate-limit"
    | "overflow"
    | "timeout"
    | "refusal"
    | "denied"
    | "server"
    | "budget"
    | "start"
    | "other";
  /** A sentence for people. */
  readonly message: string;
  /** When a rate limit ends; milliseconds since 1970. Undefined if not reported. */
  readonly resetAt: number | undefined;
}
