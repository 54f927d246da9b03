import { gemini } from "../../../src/adapters/harness/gemini/gemini.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";

export const candidate: Candidate = {
  program: "gemini",
  harness: (home, program) =>
    gemini({ commands: spawnCommands, env: { HOME: home, PATH: process.env.PATH ?? "" }, home, program }),
  env: (_, url) => ({ GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: url }),
  skills: ["skills", "list"],
  model: "gemini-2.5-flash",
  needsEnterAgain: true,
  write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  writeTaskFile: (file_path, content) => [{ name: "write_file", input: { file_path, content } }],
  mcp: (tool, input = {}) => ({ name: `mcp_signalbox_${tool}`, input }),
  shell: (command) => ({ name: "run_shell_command", input: { command, description: "Work" } }),
};
