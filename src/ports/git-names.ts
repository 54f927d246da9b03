export interface Person {
  readonly name: string;
  readonly email: string;
}

/** A file's name as git has it: any bytes but NUL. In `text` everything that is no plain text is escaped as git does. */
export interface FileName {
  readonly text: string;
  readonly bytes: Uint8Array;
}
