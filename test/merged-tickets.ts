/** Git's own arguments: the ticket of each merge, the newest first. */
export const mergedTickets = ["log", "--merges", "--format=%(trailers:key=Ticket,valueonly,separator=)"] as const;
