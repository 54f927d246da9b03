import type { Printed } from "./printed.ts";
import type { ReservedRecord } from "./reserve-record.ts";
import type { ClaimRecord, OrderRecord } from "./run-records.ts";

/** What a supervisor has in its hands once a run is its own. */
export interface Supervision {
  readonly folder: string;
  readonly order: OrderRecord;
  readonly claim: ClaimRecord;
  readonly printed: Printed;
  readonly record: ReservedRecord;
  readonly end: ReservedRecord;
}
