import type { Harness } from "../../src/ports/harness.ts";
import type { Answer, Asked, ToolCall } from "../../src/testing/model-server/answer.ts";
import type { Pinned } from "./pinned.ts";

/** A column of the table: a harness with the program that it is tried with. */
export interface Candidate {
  readonly program: Pinned;
  /** The adapter, for a home of its own and the program at this path. */
  harness(home: string, path: string): Harness;
  /** What leads the program to the scripted model, and keeps it from trying for ever. */
  env(home: string, url: string): Readonly<Record<string, string>>;
  /** What must lie in its home for that, where an environment does not do. */
  seed?(home: string, url: string): void;
  /** Puts into a workspace what would make the program ask a person before it begins. */
  provoke?(folder: string): void;
  readonly model: string;
  /** A key that comes soon after a paste is taken for a part of it; another one submits the message. */
  readonly needsEnterAgain?: boolean;
  /** Has the model write a whole file. */
  write(file: string, content: string): ToolCall;
  /** Has the model run a command line. */
  shell(command: string): ToolCall;
  /** Has the model write its task file where its permissions are reduced; by a command line where this is missing. */
  writeTaskFile?(file: string, content: string): readonly ToolCall[];
  /** Tells the questions that the program asks of its own accord; where this is missing they are those without tools. */
  isSide?(asked: Asked): boolean;
  /** Has the model call a tool of our MCP server. */
  mcp?(tool: string): ToolCall;
  /** How the program is made to tell, itself or its model, which skills it knows. */
  readonly skills?: readonly string[];
  /** How the model answers where the answer must fit a schema; by saying it, where this is missing. */
  json?(value: unknown): Answer;
}
