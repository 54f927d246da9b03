import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-field.ts";

/** Where a project has its tickets. */
export interface TicketConfig {
  readonly tickets: "files" | "github";
  readonly ticketsLabel: string;
}

const text: Shape = { kind: "text" };

export const ticketFields: { readonly [Name in keyof TicketConfig]: Field<TicketConfig[Name]> } = {
  tickets: {
    key: "tickets",
    level: "project",
    isDaemons: true,
    shape: { kind: "text", oneOf: ["files", "github"] },
    default: "files",
    description: "Where tickets are: files in .tickets, or the issues of the project's remote on GitHub",
  },
  ticketsLabel: {
    key: "tickets_label",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "ready",
    description: "The label that an issue must have to be a ticket",
    // Behind a comma GitHub reads another label.
    problem: (label) =>
      /^[^,\n]{1,50}$/.test(label) ? undefined : `"tickets_label" must be a label, without a comma, but is "${label}".`,
  },
};
