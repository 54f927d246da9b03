import type { Store } from "../../src/ports/store.ts";

export interface Death {
  /** At which call of the store, counted from 1. */
  readonly at: number;
  /** Before the call does anything, or after it succeeded but before the caller gets the result. */
  readonly when: "before" | "after";
}

export interface Mortal {
  readonly store: Store;
  calls(): number;
  isDead(): boolean;
}

/** A store whose process dies at one of its calls: that call fails, and no later call ever settles. */
export function createMortal(whole: Store, death: Death | undefined): Mortal {
  let calls = 0;
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new Error("The power went.");
  };
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === "object" && value !== null) return mortal(value);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          if (isDead) return new Promise(() => undefined);
          const isLast = ++calls === death?.at;
          if (isLast && death.when === "before") die();
          const result = await value.apply(target, args);
          if (isLast && death.when === "after") die();
          return result;
        };
      },
    });
  return { store: mortal(whole), calls: () => calls, isDead: () => isDead };
}
