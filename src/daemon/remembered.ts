/**
 * Values that were read once and are known until they are written. What is read while its key is being written is given
 * out and not kept: it may be older than what was written, or newer than a failure says.
 */
export class Remembered<T> {
  readonly #most: number;
  readonly #known = new Map<string, T>();
  /** The last reader of each key; it loses its place when the key is written. */
  readonly #reading = new Map<string, symbol>();
  /** What is being written just now, how often, and whether anybody wrote beside it: then nobody can say who was last. */
  readonly #writing = new Map<string, { count: number; beside: boolean }>();
  #writingAll = 0;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  /** The known value, or the one that `load` finds. Nothing found is nothing known. */
  async read<Found extends T | undefined>(key: string, load: () => Promise<Found>): Promise<Found | T> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const reader = Symbol();
    this.#reading.set(key, reader);
    try {
      const found = await load();
      if (found !== undefined && this.#reading.get(key) === reader && !this.#isBeingWritten(key))
        this.#keep(key, found);
      return found;
    } finally {
      if (this.#reading.get(key) === reader) this.#reading.delete(key);
    }
  }

  /** `value` tells from the result what the key is now; without it, it is read again. */
  async write<Result>(key: string, write: () => Promise<Result>, value?: (result: Result) => T): Promise<Result> {
    this.forget(key);
    const writing = this.#writing.get(key) ?? { count: 0, beside: this.#writingAll > 0 };
    this.#writing.set(key, writing);
    if (writing.count++ > 0) writing.beside = true;
    let result: Result;
    try {
      result = await write();
    } finally {
      // Also what failed may be written.
      this.forget(key);
      if (--writing.count === 0) this.#writing.delete(key);
    }
    if (!writing.beside && value !== undefined) this.#keep(key, value(result));
    return result;
  }

  /** As `write`, where nobody can say which keys are meant. */
  async writeAll<Result>(write: () => Promise<Result>): Promise<Result> {
    this.#forgetAll();
    this.#writingAll++;
    for (const writing of this.#writing.values()) writing.beside = true;
    try {
      return await write();
    } finally {
      this.#writingAll--;
      this.#forgetAll();
    }
  }

  forget(key: string): void {
    this.#known.delete(key);
    this.#reading.delete(key);
  }

  #keep(key: string, value: T): void {
    // The oldest of a Map comes first.
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#most && oldest !== undefined && !this.#known.has(key)) this.#known.delete(oldest);
    this.#known.set(key, value);
  }

  #forgetAll(): void {
    this.#known.clear();
    this.#reading.clear();
  }

  #isBeingWritten(key: string): boolean {
    return this.#writingAll > 0 || this.#writing.has(key);
  }
}
