import type { ProcessEnd } from "./processes.ts";

/** A program that agents run in. An adapter knows its flags, its files and its words; it starts nothing itself. */
export interface Harness {
  /** As it is named in configurations: `claude`. */
  readonly name: string;
  /** As people call it: `Claude Code`. */
  readonly title: string;
  readonly can: Capabilities;
  /** It does what somebody wrote down, and nothing that a model thinks of: nobody has to allow it full permissions. */
  readonly isScripted?: true;
  /** It cannot go on with a session without being told something at once. */
  readonly needsPrompt?: true;
  /** Looks whether it is there. */
  detect(): Promise<Detected>;
  /**
   * Makes everything ready for a run, and says what is to be started. May write into the run's own folder, and what the
   * program needs to start without questions into its own configuration. Safe to do twice.
   */
  prepare(order: HarnessOrder): Promise<Launch>;
  /** Reads what a turn prints. `at` is from its order: what is needed to understand the output may be noted there. */
  readOutput(at: Pick<HarnessOrder, "run" | "runFolder">): OutputReader;
  /** Reads what hooks have put into the run's `events` file, and what the transcript says; one line at a time. */
  readEvidence(line: string): readonly HarnessEvent[];
  /** A line of a session's transcript. What it says must not be said by `readEvidence` too, or is said twice. */
  readTranscript(line: string): readonly HarnessEvent[];
  /** Where a session's transcript is, as far as one can tell without having heard of it; empty where there is none. */
  transcriptOf(session: string, folder: string): Promise<string>;
  /** What the screen of an interactive run shows. Weak evidence: a program may change its words any day. */
  readScreen(screen: string, title: string): ScreenState;
  /**
   * What keeps the program from working until somebody has done something about it, as its screen shows it, or as it said
   * before it ended; undefined where it says nothing of the kind.
   */
  readObstacle?(text: string): Obstacle | undefined;
  /** Looks whether somebody is logged in, and says what to do where nobody is. */
  login?(): Promise<{ readonly state: "in" | "out" | "unknown"; readonly hint: string }>;
}

export interface Obstacle {
  /** session: the one that it was to go on in does not exist. */
  readonly kind: "login" | "trust" | "update" | "session";
  /** A sentence for people, with the command that mends it. */
  readonly told: string;
}

/** How an interactive agent looks. `starting`: not ready for input yet. `asks`: a dialog waits, where nobody may type for it. */
export type ScreenState = "starting" | "ready" | "busy" | "asks" | "unknown";

export interface Detected {
  readonly found: boolean;
  /** Where the program is; empty where it is not. */
  readonly path: string;
  readonly version: string;
  /** What a person should know or do; empty where everything is well. */
  readonly hint: string;
}

export const toolClasses = ["read", "write", "execute", "web"] as const;
export type ToolClass = (typeof toolClasses)[number];

/** What a harness can do. Plain data: the table in the documents is made from it. */
export interface Capabilities {
  /** A person can attach to it. */
  readonly session: boolean;
  /** It answers without a terminal. */
  readonly turn: boolean;
  readonly resume: boolean;
  /** The session's id is ours to choose, so that it is known before the program starts. */
  readonly namesSession: boolean;
  readonly model: boolean;
  readonly effort: boolean;
  /** How `reduced` permissions are kept: by the program's own sandbox or rules, or only by words in the prompt. */
  readonly reduced: "enforced" | "asked";
  /** The classes of tools that it can be made to do without. */
  readonly withholds: readonly ToolClass[];
  /** Tools can be allowed one by one. */
  readonly toolsByName: boolean;
  /** Its answer is made to fit a JSON schema. */
  readonly schema: boolean;
  /** It takes instructions apart from the prompt. */
  readonly system: boolean;
  readonly mcp: boolean;
  /** Where it is seen that a message has arrived. */
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
  /** Instructions apart from the prompt; empty for none. Where the harness takes none, put before the prompt. */
  readonly system: string;
  /** Where it works. */
  readonly folder: string;
  /** A folder of the run's own, outside of the workspace, that nobody else writes to. */
  readonly runFolder: string;
  /** Empty for the harness's own choice. */
  readonly model: string;
  /** Empty for the harness's own choice. */
  readonly effort: string;
  /** reduced: read, search, read-only git, the test command, its task file and our command line; nothing else. */
  readonly permissions: "full" | "reduced";
  /** Classes or names of tools; undefined for all that the permissions allow. */
  readonly tools: readonly string[] | undefined;
  /** The whole path of the file in which a run with reduced permissions may write; empty where there is none. */
  readonly taskFile: string;
  /** The command that a run with reduced permissions may run to test; empty where nobody knows. */
  readonly testCommand: readonly string[];
  /** Our own command line, as it is called in the run's PATH. */
  readonly cli: string;
  /** `new`: an id to open a session under, where the harness lets us choose. */
  readonly session: { readonly kind: "new" | "resume"; readonly id: string };
  /** The JSON schema of the answer; undefined where any text will do. */
  readonly schema: unknown;
  /** Our own MCP server; undefined where the run has none. */
  readonly mcp: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
  /** What is run with a JSON text on its standard input, or as its last argument, whenever a hook fires. */
  readonly hook: readonly string[];
  /** US dollars that the program may use up, where it can be told; undefined for no limit. */
  readonly costLimit: number | undefined;
  /** What was inherited and what every run gets: `PATH`, `SIGNALBOX_TOKEN`, … The adapter adds its own. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Launch {
  readonly argv: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What a turn reads; empty for nothing. */
  readonly input: string;
  /** The prompt goes in as a message once the program is ready; empty where it is among the arguments. */
  readonly message: string;
  /** The id the session will have; empty where only the program knows. */
  readonly session: string;
}

/** Takes in what a program prints, in pieces of any size. */
export interface OutputReader {
  push(chunk: Uint8Array): readonly HarnessEvent[];
  /** The program has ended; `errors` is the end of what it printed on the other channel. */
  end(end: ProcessEnd, errors: string): TurnEnd;
}

/** How a turn ended. */
export interface TurnEnd {
  /** What it said last; empty where it said nothing. */
  readonly text: string;
  /** The answer where it came as data; undefined where it is to be looked for in the text. */
  readonly answer: unknown;
  /** Undefined where all went well. */
  readonly error: HarnessError | undefined;
  /** What else was learnt at the end. */
  readonly events: readonly HarnessEvent[];
}

/** What is learnt about a run, from whatever source. */
export type HarnessEvent =
  /** The session's id, and its transcript where that is known; else empty. */
  | { readonly kind: "session"; readonly id: string; readonly transcript: string }
  /** A prompt or a message has arrived in the conversation. */
  | { readonly kind: "prompted"; readonly text: string }
  /** It is at work; `what` says at what, in a few words, or is empty. */
  | { readonly kind: "busy"; readonly what: string }
  | { readonly kind: "tool"; readonly name: string; readonly state: "began" | "ended" }
  | { readonly kind: "said"; readonly text: string }
  /** Its turn is over, and it waits for the next message. */
  | { readonly kind: "idle"; readonly said: string }
  /** A dialog waits for a person. */
  | { readonly kind: "asks"; readonly about: string }
  /** What was used up beyond what was told before. */
  | { readonly kind: "usage"; readonly usage: TokenUsage }
  | { readonly kind: "failed"; readonly error: HarnessError }
  /** The session was ended in good order. */
  | { readonly kind: "over" };

export interface TokenUsage {
  readonly model: string;
  /** Without what came from a cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** US dollars. Undefined where nobody told: unknown is not zero. */
  readonly cost: number | undefined;
}

export interface HarnessError {
  /**
   * session-in-use: somebody else has it open. session-unknown: it cannot be resumed. overflow: the conversation is too long.
   * refusal: the model will not. denied: it needed what its permissions withhold. server: the provider failed.
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
  /** When a rate limit is over; milliseconds since 1970. Undefined where nobody told. */
  readonly resetAt: number | undefined;
}
