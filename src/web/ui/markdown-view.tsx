import { useMemo } from "react";
import { markdownHtml } from "../text/markdown.ts";

// Loaded with the first Markdown: its reader is as large as a third of the page. `lazy` needs a default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function MarkdownView({ text }: { text: string }) {
  const html = useMemo(() => ({ __html: markdownHtml(text) }), [text]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml returns safe HTML, which a corpus in its test shows.
  return <div className="prose" dir="auto" dangerouslySetInnerHTML={html} />;
}
