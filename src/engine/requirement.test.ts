import { expect, test } from "vitest";
import { builtIn, load } from "../../test/language/workflow-texts.ts";
import { requirementOf } from "./requirement.ts";
import type { LogEntry, Task } from "./task.ts";

const team = load(builtIn("team"));
const said = (from: LogEntry["from"], text: string): LogEntry => ({ from, text });
const requirement = (status: string, ...log: readonly LogEntry[]) =>
  requirementOf(team, { summary: "Brew", log, results: { clarification: { status, message: "" } } } as unknown as Task);

test("the requirement is the message that the person has confirmed", () => {
  const asked = [said("agent", "Which beans?"), said("human", "Arabica")];
  expect(requirement("ready", ...asked, said("agent", "Brew arabica."), said("human", "yes"))).toBe("Brew arabica.");
});

test("without a confirmation it is the summary and everything that was said", () => {
  expect(requirement("ready", said("agent", "Brew arabica."), said("human", "No, robusta"))).toBe(
    "Brew\n\nWhat was said about it:\nagent: Brew arabica.\nhuman: No, robusta",
  );
  // A yes that answers a question confirms nothing.
  expect(requirement("questions", said("agent", "With milk?"), said("human", "yes"))).toContain("agent: With milk?");
});

test("without a clarification it is the summary", () => {
  expect(requirementOf(team, { summary: "Brew", log: [], results: {} } as unknown as Task)).toBe("Brew");
});
