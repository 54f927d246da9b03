import type { ActionDeclaration } from "./declaration.ts";

export const closeTicket: ActionDeclaration = {
  name: "close_ticket",
  summary: "Close the ticket the task came from",
  params: {},
  words: {},
  holds: false,
};
