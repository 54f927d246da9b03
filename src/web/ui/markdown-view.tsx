import { useMemo } from "react";
import { markdownHtml } from "../text/markdown.ts";

/** Loaded with the first Markdown: its reader is as large as a sixth of the page. */
export function MarkdownView({ text }: { text: string }) {
  const html = useMemo(() => ({ __html: markdownHtml(text) }), [text]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml returns safe HTML, which a corpus in its test shows.
  return <div className="prose" dir="auto" dangerouslySetInnerHTML={html} />;
}
