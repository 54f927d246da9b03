import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isNotifying, onNotifying, setNotifying } from "./switch.ts";

const kept = new Map<string, string>();
const tab = new EventTarget();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal("addEventListener", tab.addEventListener.bind(tab));
  vi.stubGlobal("removeEventListener", tab.removeEventListener.bind(tab));
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  });
});
afterEach(() => void vi.unstubAllGlobals());

test("notifications are off until they are switched on, can be switched off again, and each change is heard", () => {
  const heard: boolean[] = [];
  const end = onNotifying(() => heard.push(isNotifying()));
  expect(isNotifying()).toBe(false);
  setNotifying(true);
  setNotifying(false);
  expect(heard).toEqual([true, false]);
  end();
  setNotifying(true);
  expect(heard).toEqual([true, false]);
});

test("a switch in another tab is heard", () => {
  const heard: boolean[] = [];
  const end = onNotifying(() => heard.push(isNotifying()));
  kept.set("signalbox.notify", "on");
  tab.dispatchEvent(Object.assign(new Event("storage"), { key: "signalbox.notify" }));
  tab.dispatchEvent(Object.assign(new Event("storage"), { key: "another" }));
  expect(heard).toEqual([true]);
  end();
});
