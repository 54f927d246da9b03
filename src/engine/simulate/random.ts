/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      // A Weyl sequence, mixed: every seed gives a full period, and neighbouring seeds share nothing.
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = state ^ (state >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      mixed ^= mixed >>> 15;
      return (mixed >>> 0) / 0x100000000;
    },
  };
}
