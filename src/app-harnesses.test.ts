import { expect, test } from "vitest";
import { createHarnesses } from "./app-harnesses.ts";
import { builtInHarnesses } from "./home/agent-fields.ts";
import { homePlaces } from "./home/places.ts";

test("the harness names that a configuration allows are those of the adapters", () => {
  const harnesses = createHarnesses({
    env: {},
    places: homePlaces("/nowhere"),
    defined: () => ({}),
    allowed: () => [],
  });
  expect([...harnesses().keys()]).toEqual([...builtInHarnesses]);
});
