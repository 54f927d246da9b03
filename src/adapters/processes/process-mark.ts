/** What a run's processes have in their environment, so that those who left its group are found too. */
export const markVariable = "SIGNALBOX_PROCESS";

export function markEntry(mark: string): string {
  return `${markVariable}=${mark}`;
}
