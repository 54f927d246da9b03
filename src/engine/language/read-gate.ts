import type { Gate } from "../workflow.ts";
import type { GateSource } from "./source.ts";

export function readGate(source: GateSource): Gate {
  return {
    section: source.section.slice(3).trim(),
    fields: source.fields ?? [],
    verdict: source.verdict,
    firstLine: source.first_line ?? false,
  };
}
