/** The tested versions of the real programs. Their output changes between versions. */
export const pinned = {
  claude: { package: "@anthropic-ai/claude-code", version: "2.1.325", program: "claude" },
  codex: { package: "@openai/codex", version: "0.166.0", program: "codex" },
  opencode: { package: "opencode-ai", version: "1.18.33", program: "opencode" },
  gemini: { package: "@google/gemini-cli", version: "0.61.0", program: "gemini" },
} as const;

export type Pinned = keyof typeof pinned;
