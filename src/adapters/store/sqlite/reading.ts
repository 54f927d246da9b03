import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";

/** A statement that reads. Tables are strict, so that whoever names the columns knows what they are. */
export interface Reading<Row extends readonly SQLOutputValue[]> {
  get(...values: readonly SQLInputValue[]): Row | undefined;
  all(...values: readonly SQLInputValue[]): readonly Row[];
  /** Whoever needs only some of them looks at no others. */
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>;
}

/** Rows come as arrays: to make objects of them takes as long as to find them. */
export function prepareReading<Row extends readonly SQLOutputValue[]>(
  database: DatabaseSync,
  sql: string,
): Reading<Row> {
  return database.prepare(sql, { returnArrays: true }) as unknown as Reading<Row>;
}
