import { drawDot } from "../../../engine/draw/dot.ts";
import { drawMermaid } from "../../../engine/draw/mermaid.ts";
import { drawText } from "../../../engine/draw/text.ts";
import { findWorkflow } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { loadSound } from "../../load-found.ts";
import { writeJson } from "../../write-json.ts";

const draw = { mermaid: drawMermaid, dot: drawDot, text: drawText };

export interface GraphFlags {
  readonly format?: keyof typeof draw;
  readonly json: boolean;
}

export function graph(this: Context, flags: GraphFlags, reference: string) {
  const found = findWorkflow(this, reference);
  const format = flags.format ?? (this.isTerminal && !flags.json ? "text" : "mermaid");
  const drawing = draw[format](loadSound(found));
  this.print(flags.json ? writeJson({ name: found.name, format, drawing }) : drawing);
}
