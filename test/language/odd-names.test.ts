import { describe, expect, test } from "vitest";
import { evidenceOf } from "../../src/daemon/look.ts";
import { writeDocument } from "../../src/daemon/task-documents.ts";
import { factsOf } from "../../src/engine/explore/world.ts";
import { gateReason } from "../../src/engine/gate.ts";
import { verify } from "../../src/engine/verify/verify.ts";
import { load } from "./workflow-texts.ts";

/** Names that every plain object of JavaScript inherits. */
const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

const withGate = (section: string) =>
  load(`version: 1
roles: { worker: { mode: session, prompt: build } }
states:
  work: { agent: { role: worker } }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: work, to: done, by: worker, gate: { section: "## ${section}" }, hooks: [kill_session, release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
prompts: { build: x }
`);

describe.each(names)("a gate on a section called %s", (section) => {
  const workflow = withGate(section);
  const [gate] = workflow.ways.find(({ gates }) => gates.length > 0)?.gates ?? [];
  const task = { status: "work", spent: { sections: [] as readonly string[], head: "" } };
  const reasonWith = (sections: Readonly<Record<string, string>>) => {
    if (gate === undefined) throw new Error("The workflow has no gate.");
    const facts = factsOf({ workspace: true, sections }, {});
    return gateReason(gate, workflow, task as never, facts)?.code;
  };

  test("opens with that section, and only with it", () => {
    expect(reasonWith({})).toBe("gate-missing");
    expect(reasonWith({ Handoff: "written" })).toBe("gate-missing");
    expect(reasonWith(Object.fromEntries([[section, "written"]]))).toBeUndefined();
  });

  test("is proved to be passable", () => {
    expect(verify(workflow).findings.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("has its author recorded", () => {
    const before = { text: "", authors: {} };
    const actor = { role: "worker", run: "worker#1" };
    const { document } = writeDocument(workflow, before, `## ${section}\n\nwritten\n`, actor, "c0ffee");
    expect(Object.keys(document.authors)).toEqual([section]);
    const again = writeDocument(workflow, JSON.parse(JSON.stringify(document)), document.text, actor, "c0ffee");
    expect(again.document.authors).toEqual(document.authors);
    const facts = factsOf({ workspace: true, sections: Object.fromEntries([[section, "written"]]) }, {});
    const event = { type: "task.moved", by: "worker", data: { evidence: [section] }, set: {} };
    const unknown = evidenceOf("t", [event as never], facts, {}, 0);
    expect(unknown).toMatchObject([{ section, role: "", run: "" }]);
  });
});
