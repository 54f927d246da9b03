import type { Tool } from "../../src/engine/tools.ts";
import type { Harness } from "../../src/ports/harness.ts";
import type { Answer, Asked, ToolCall } from "../model-server/server.ts";
import type { Pinned } from "./pinned.ts";
import type { VendorAnswer } from "./scripted-vendor.ts";

/** A column of the table: a harness and the program that it is tested with. */
export interface Candidate {
  readonly program: Pinned;
  /** The adapter, with a separate home and the program at this path. */
  harness(home: string, path: string): Harness;
  /** The environment that points the program to the scripted model, and limits its retries. */
  env(home: string, url: string): Readonly<Record<string, string>>;
  /** The files in its home for the same purpose, if variables are not enough. */
  seed?(home: string, url: string): void;
  /** Adds files to a workspace that would make the program ask a person before it starts. */
  provoke?(folder: string): void;
  readonly model: string;
  /** The program takes a key soon after a paste for a part of it; another key submits the message. */
  readonly needsEnterAgain?: boolean;
  /** The names by which it offers tools to the model. Those that it never offers are missing. */
  readonly offers: Readonly<Partial<Record<Tool, string>>>;
  /** Makes the model read a file. */
  read(file: string): ToolCall;
  /** Makes the model write a whole file. */
  write(file: string, content: string): ToolCall;
  /** Makes the model run a command line. */
  shell(command: string): ToolCall;
  /** Makes the model write its task file with reduced permissions; by default with a command line. */
  writeTaskFile?(file: string, content: string): readonly ToolCall[];
  /** Recognises model requests that the program makes by itself; by default those without tools. */
  isSide?(asked: Asked): boolean;
  /** Makes the model call a tool of our MCP server. */
  mcp?(tool: string, input?: Readonly<Record<string, string>>): ToolCall;
  /** How to find out, from the program or its model, which skills it knows. */
  readonly skills?: readonly string[];
  /** A login with the vendor, instead of a key. */
  readonly login?: VendorLogin;
  /** How the model answers a prompt with a schema; by default as plain text. */
  json?(value: unknown): Answer;
}

/** A login that has run out, and what the vendor answers. */
export interface VendorLogin {
  /** The login's file in the user's home, and its text. */
  readonly file: string;
  readonly text: string;
  readonly hosts: readonly string[];
  /** The URL of the request that refreshes the login, without its protocol, and what the vendor returns. */
  readonly refresh: string;
  readonly refreshed: unknown;
  /** The new access token. */
  readonly token: string;
  /** Other requests; those to the model go to the scripted model at `model`, or are answered with "Hello.". */
  answer(url: string, model: string): VendorAnswer | undefined;
  readonly env?: Readonly<Record<string, string>>;
  seed?(home: string, url: string): void;
  readonly model?: string;
}
