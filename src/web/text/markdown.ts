import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { visible } from "./visible.ts";

/**
 * Markdown as HTML that is safe to show: HTML in it is text, addresses are of known protocols, an image is its description, and
 * a link opens a new window that knows nothing of this one.
 */
export function markdownHtml(text: string): string {
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
