import type { Arguments, HarnessVariable } from "../../../engine/harness-definition.ts";
import { variablesIn } from "../../../engine/harness-definition.ts";
import { fill } from "../../../engine/template.ts";
import { Fault } from "../../../fault.ts";

export type HarnessValues = Readonly<Record<HarnessVariable, string>>;

// What Linux takes as one argument, with room for the text around it.
const longest = 127 * 1024;

/** Fills a template: every text stays one argument, whatever is put into it. */
export function fillArguments(template: Arguments, values: HarnessValues): readonly string[] {
  return template.flatMap((each) => {
    if (typeof each === "string") return [filled(each, values)];
    const isEmpty = variablesIn([each]).some((name) => values[name as HarnessVariable] === "");
    return isEmpty ? [] : each.map((inner) => filled(inner, values));
  });
}

function filled(text: string, values: HarnessValues): string {
  const result = fill(text, (name) => (Object.hasOwn(values, name) ? values[name as HarnessVariable] : undefined));
  if (!result.ok) throw new Fault("harness.variable", `There is no {${result.unknown.join("}, {")}} for "${text}".`);
  // No argument can contain the character that ends it.
  const argument = result.text.replaceAll("\0", "");
  if (Buffer.byteLength(argument) > longest)
    throw new Fault("harness.argument", `An argument would have more than ${longest / 1024} KB.`, {
      hint: "Leave {prompt} out of the arguments: the program then gets the prompt on its standard input.",
    });
  return argument;
}
