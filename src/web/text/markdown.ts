import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { visible } from "./visible.ts";

/**
 * Markdown as HTML that is safe to show: HTML in it is text, addresses are of known protocols, an image is its description, and
 * a link opens a new window that knows nothing of this one.
 */
export function markdownHtml(text: string): string {
  if (isCostly(text)) return `<pre>${escaped(visible(text))}</pre>`;
  const html = micromark(visible(text), {
    allowDangerousHtml: false,
    allowDangerousProtocol: false,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  // In text the compiler writes "<" and quotes as entities, so these tags are its own.
  return (
    html
      // A remote image would tell its owner who reads this, and when.
      .replace(/<img src="[^"]*" alt="([^"]*)"(?: title="[^"]*")? \/>/g, (_, alt) => `<em>${alt || "image"}</em>`)
      .replaceAll("<a href=", '<a target="_blank" rel="noopener noreferrer" href=')
  );
}

const maxLength = 50_000;
/** In one block of text. People write a tenth of that. */
const maxMarks = 300;
const maxNesting = 12;

/**
 * Whether reading the text as Markdown could take so long that the page stands still: the time grows with the square of
 * nested lists and quotes, and of unmatched marks in a block.
 */
function isCostly(text: string): boolean {
  if (text.length > maxLength) return true;
  return text.split(/\n[ \t]*\n/).some((block) => {
    const lines = block.split("\n");
    // The cells of a table are read one by one.
    const rows = lines.filter((line) => line.startsWith("|"));
    const rest = lines.filter((line) => !line.startsWith("|")).join("\n");
    return [rest, ...rows].some(hasManyMarks) || lines.some(isDeep);
  });
}

function hasManyMarks(text: string): boolean {
  const marks = text.match(/[*_~`<[\]!\\]/g)?.length ?? 0;
  return marks > maxMarks && marks > text.length / 30;
}

function isDeep(line: string): boolean {
  const [before = ""] = /^(?:[ \t]*(?:[-+*>]|\d{1,9}[.)])(?=[ \t>]|$))*/.exec(line) ?? [];
  return (before.match(/[-+*>]|\d+/g)?.length ?? 0) > maxNesting;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
