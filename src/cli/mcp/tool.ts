/** What a client sees of a tool, and what is done when it is called. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: unknown;
  call(input: unknown): Promise<{ readonly text: string; readonly isError: boolean }>;
}
