import { Fault } from "../../../fault.ts";

const form =
  /^(?:[CMS]-)*(?:Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PPage|NPage|PageUp|PageDown|DC|IC|F(?:[1-9]|1[0-2])|[!-~])$/;

/** Makes sure that these are names of keys: tmux would type a name that it does not know, letter by letter. */
export function checkKeys(keys: readonly string[]): readonly string[] {
  const wrong = keys.find((key) => !form.test(key));
  if (wrong === undefined) return keys;
  throw new Fault("terminal.key", `${JSON.stringify(wrong.slice(0, 40))} is no name of a key.`, {
    hint: 'Names are "Enter", "Escape", "C-u", … and single characters; a text is pasted.',
  });
}
