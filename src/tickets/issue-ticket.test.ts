import { expect, test } from "vitest";
import { type Issue, ticketOfIssue } from "./ticket.ts";

const issue: Issue = {
  ...{ number: 7, isOpen: true, title: "Brew", body: "", labels: ["ready"] },
  ...{ assignee: "", created: "2026-01-25T19:11:47Z" },
};
const depsOf = (body: string) => ticketOfIssue({ ...issue, body }).deps;
const priorityOf = (...labels: readonly string[]) => ticketOfIssue({ ...issue, labels }).priority;

test("an issue names its dependencies on their own lines, in two forms, several on one line", () => {
  expect(depsOf("Strong.\n\nBlocked by #12, #13\r\n- depends on: #4 and #12\n")).toEqual(["12", "13", "4"]);
});

test("a mention in passing, of the issue itself or of another repository is not a dependency", () => {
  expect(depsOf("It was blocked by #12 before.\nBlocked by acme/tea#3, #7, x#5, #6")).toEqual(["6"]);
  expect(depsOf("See #12.\n> Blocked by #3")).toEqual([]);
});

test("the most urgent priority label counts, and other labels are ignored", () => {
  expect(priorityOf("P1")).toBe(1);
  expect(priorityOf("p3", "P0", "bug")).toBe(0);
  expect(priorityOf("P7", "xp1")).toBe(2);
});

test("an open issue with the label is in progress, and a closed one is closed whatever its labels", () => {
  expect(ticketOfIssue({ ...issue, labels: ["In Progress"] }).status).toBe("in_progress");
  expect(ticketOfIssue({ ...issue, labels: ["in progress"], isOpen: false }).status).toBe("closed");
});
