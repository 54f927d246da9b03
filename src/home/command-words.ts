import { homedir } from "node:os";
import { Fault } from "../fault.ts";

/**
 * A command as somebody types it, taken apart into its arguments. Quotes and a `~/` in front are understood; what only a
 * shell could carry out is refused, because commands are run without one.
 */
export function commandWords(text: string, name: string): readonly string[] {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const [whole = "", word = ""] = /^((?:'[^']*'|"[^"]*"|[^\s'"])+)\s*/.exec(rest) ?? [];
    if (whole === "") throw shellNeeded(text, name, "a quote is not closed");
    const plain = word.replace(/'[^']*'|"[^"]*"/g, "");
    const found = /[|&;<>`]|\$[({A-Za-z]/.exec(plain)?.[0];
    if (found !== undefined) throw shellNeeded(text, name, `"${found}" means something to a shell`);
    const typed = word.replace(/^~(?=\/|$)/, () => homedir());
    words.push(typed.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double ?? ""));
    rest = rest.slice(whole.length);
  }
  return words;
}

function shellNeeded(text: string, name: string, why: string): Fault {
  return new Fault("usage", `"${name}" is run without a shell, and ${why}.`, {
    hint: `To have a shell run it: signalbox config set ${name} '${JSON.stringify(["sh", "-c", text]).replaceAll("'", "'\\''")}'`,
  });
}
