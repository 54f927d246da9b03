import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentModel, chooseAgent, type NamedAgent } from "./choose-agent.ts";

const large: AgentModel = { harness: "claude", tier: "large", model: "opus" };
const small: AgentModel = { harness: "claude", tier: "small", model: "haiku" };
const agent = (name: string, of: AgentModel, more: Partial<NamedAgent> = {}): NamedAgent => ({
  ...{ name, work: "", stuck: "", ...of, ...more },
});
const busy = { work: "does worker#1 of coffee#1" };
const limits = (perModel: Readonly<Record<string, number>> = {}, most = 10) => ({ perModel, most });

describe("chooseAgent", () => {
  test("takes a free agent with the wanted model, the oldest first", () => {
    const all = [agent("A", small), agent("B", large, busy), agent("C", large), agent("D", large)];
    expect(chooseAgent(all, large, limits(), [small])).toEqual({ kind: "use", agent: "C" });
  });
  test("makes a new agent before it falls back to another model", () => {
    const all = [agent("A", small), agent("B", large, busy)];
    expect(chooseAgent(all, large, limits({ large: 2 }), [small])).toEqual({ kind: "provision" });
  });
  test("falls back when the limit of the wanted model is reached, to the best model that has a free agent", () => {
    const tiny: AgentModel = { harness: "claude", tier: "", model: "tiny" };
    const all = [agent("A", tiny), agent("B", large, busy), agent("C", small, busy), agent("D", small)];
    expect(chooseAgent(all, large, limits({ large: 1 }), [small, tiny])).toEqual({ kind: "fall-back", agent: "D" });
    expect(chooseAgent(all.slice(0, 3), large, limits({ large: 1 }), [small, tiny])).toEqual({
      ...{ kind: "fall-back", agent: "A" },
    });
  });
  test("waits, and says which agents are taken, what the limit is, and how a stuck agent is cleared", () => {
    const stuck = { stuck: "It crashed. To clear it: signalbox agent clear B --project coffee" };
    const all = [agent("A", large, busy), agent("B", large, stuck), agent("C", small)];
    const choice = chooseAgent(all, large, limits({ large: 2 }), []);
    expect(choice).toEqual({
      kind: "wait",
      reason:
        "All 2 named agents for large in claude are taken: A does worker#1 of coffee#1, B is stuck. The maximum is 2 (agents.per_model). B is stuck: It crashed. To clear it: signalbox agent clear B --project coffee",
    });
  });
  test("makes none where the limit is 0, and says so; that lasts while no agent of another model could do it", () => {
    const other = [agent("A", small, busy)];
    expect(chooseAgent(other, large, limits({ large: 0 }), [small])).not.toHaveProperty("isLasting");
    expect(chooseAgent(other, large, limits({ large: 0 }), [])).toMatchObject({ isLasting: true });
    expect(chooseAgent([], large, limits({ large: 0 }), [])).toEqual({
      kind: "wait",
      isLasting: true,
      reason: "There is no named agent for large in claude, and none is made. The maximum is 0 (agents.per_model).",
    });
  });
  test("takes an agent of the model that a tier stands for, but no agent of another tier or harness", () => {
    const opus = agent("A", { harness: "claude", tier: "", model: "opus" });
    expect(chooseAgent([opus], large, limits(), [])).toEqual({ kind: "use", agent: "A" });
    const own: AgentModel = { harness: "opencode", tier: "large", model: "" };
    const others = [agent("A", { ...own, tier: "small" }), agent("B", large)];
    expect(chooseAgent(others, own, limits(), [])).toEqual({ kind: "provision" });
  });
  test("never takes an agent whose tier has no model in its harness", () => {
    const all = [agent("A", { ...large, model: undefined })];
    expect(chooseAgent(all, large, limits({ large: 1 }), []).kind).toBe("wait");
  });
});

const models = fc.constantFrom(
  large,
  small,
  { ...large, harness: "codex" },
  { harness: "claude", tier: "", model: "x" },
);
const agents = fc
  .array(fc.record({ of: models, isBusy: fc.boolean(), isStuck: fc.boolean() }), { maxLength: 8 })
  .map((all) =>
    all.map(({ of, isBusy, isStuck }, at) =>
      agent(`A${at}`, of, { work: isBusy ? "does it" : "", stuck: isStuck ? "It failed." : "" }),
    ),
  );
const sameAs = (one: AgentModel) => (other: AgentModel) =>
  one.harness === other.harness && one.tier === other.tier && one.model === other.model;

test("for any agents, the choice is free, of the right model, within the limit, and none better was possible", () => {
  fc.assert(
    fc.property(agents, models, fc.array(models, { maxLength: 3 }), fc.nat(4), (all, wanted, others, most) => {
      const choice = chooseAgent(all, wanted, { perModel: {}, most }, others);
      const exact = all.filter(sameAs(wanted));
      const isFree = ({ work, stuck }: NamedAgent) => work === "" && stuck === "";
      const hasExact = exact.some(isFree);
      const mayMake = exact.length < most;
      const chosen = all.find(({ name }) => "agent" in choice && name === choice.agent);
      if (chosen !== undefined) expect(isFree(chosen)).toBe(true);
      expect(choice.kind === "use").toBe(hasExact);
      if (choice.kind === "use") expect(sameAs(wanted)(chosen ?? small)).toBe(true);
      expect(choice.kind === "provision").toBe(!hasExact && mayMake);
      if (choice.kind === "fall-back") expect(others.some((other) => sameAs(other)(chosen ?? small))).toBe(true);
      if (choice.kind !== "wait") return;
      expect(all.filter(isFree).some((each) => others.some((other) => sameAs(other)(each)))).toBe(false);
      expect(choice.reason).toMatch(/\.$/);
    }),
  );
});
