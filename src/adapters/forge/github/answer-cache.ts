/** What GitHub answered, with the mark by which it says that the answer is still the same. That costs no request. */
export interface KeptAnswer {
  readonly etag: string;
  readonly json: unknown;
  readonly link: string;
}

export interface AnswerCache {
  get(path: string): KeptAnswer | undefined;
  put(path: string, answer: KeptAnswer, size: number): void;
  forget(path: string): void;
}

/** Forgets what was not asked for the longest time when there is too much. */
export function createAnswerCache(mostCharacters = 8 * 1024 * 1024): AnswerCache {
  const kept = new Map<string, { readonly answer: KeptAnswer; readonly size: number }>();
  let total = 0;
  const forget = (path: string) => {
    total -= kept.get(path)?.size ?? 0;
    kept.delete(path);
  };
  const put = (path: string, answer: KeptAnswer, size: number) => {
    forget(path);
    kept.set(path, { answer, size });
    total += size;
    for (const oldest of kept.keys()) {
      if (total <= mostCharacters) return;
      forget(oldest);
    }
  };
  return {
    get(path) {
      const found = kept.get(path);
      if (found !== undefined) put(path, found.answer, found.size);
      return found?.answer;
    },
    put,
    forget,
  };
}
