import { expect, test } from "vitest";
import { type Issue, ticketOfIssue } from "./issue-ticket.ts";

const issue: Issue = {
  ...{ number: 7, isOpen: true, title: "Brew", body: "", labels: ["ready"] },
  ...{ assignee: "", created: "2026-01-25T19:11:47Z" },
};
const depsOf = (body: string) => ticketOfIssue({ ...issue, body }).deps;
const priorityOf = (...labels: readonly string[]) => ticketOfIssue({ ...issue, labels }).priority;

test("what an issue waits for is said on lines of its own, in two ways, with several on one line", () => {
  expect(depsOf("Strong.\n\nBlocked by #12, #13\r\n- depends on: #4 and #12\n")).toEqual(["12", "13", "4"]);
});

test("what is said in passing, of itself or of other repositories is no dependency", () => {
  expect(depsOf("It was blocked by #12 before.\nBlocked by acme/tea#3, #7, x#5, #6")).toEqual(["6"]);
  expect(depsOf("See #12.\n> Blocked by #3")).toEqual([]);
});

test("labels say how urgent it is; the most urgent counts, and others say nothing", () => {
  expect(priorityOf("P1")).toBe(1);
  expect(priorityOf("p3", "P0", "bug")).toBe(0);
  expect(priorityOf("P7", "xp1")).toBe(2);
});

test("an open issue is in progress where its label says so, and a closed one is closed whatever it says", () => {
  expect(ticketOfIssue({ ...issue, labels: ["In Progress"] }).status).toBe("in_progress");
  expect(ticketOfIssue({ ...issue, labels: ["in progress"], isOpen: false }).status).toBe("closed");
});
