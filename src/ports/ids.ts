/** Where names come from that nobody has used before. */
export interface Ids {
  /** A task's id: short, lower case, begins with a letter. */
  task(): string;
  /** Something nobody can guess: hexadecimal, 48 characters. */
  secret(): string;
}
