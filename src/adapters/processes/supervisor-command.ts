/**
 * What starts a supervisor, for `createProcesses`. Node would let the youngest objects take up 16 MB and keep threads that
 * compile; a supervisor mostly waits.
 */
export function supervisorCommand(file: string): readonly string[] {
  return [process.execPath, "--max-semi-space-size=1", "--v8-pool-size=0", file];
}
