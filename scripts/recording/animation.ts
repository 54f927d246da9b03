/** Neighbouring cells that look alike. A character that is wide, or of several code units, is a run of its own. */
export interface Run {
  /** The column in which it begins. */
  readonly at: number;
  readonly text: string;
  /** How many columns it takes. */
  readonly width: number;
  readonly colour: string;
  readonly back?: string;
  readonly isBold: boolean;
}

export type Row = readonly Run[];

/** What is seen for some time: a screen, and below it what was pressed and what that does. */
export interface Frame {
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  readonly caption: string;
  readonly seconds: number;
}

interface Looks {
  readonly columns: number;
  readonly rows: number;
  readonly title: string;
  readonly description: string;
  /** The colours of the screen where nothing is written, and of the text below it. */
  readonly back: string;
  readonly front: string;
  /** The number of the frame that people see who want no motion, and programs that do not animate. */
  readonly still: number;
}

/** A column and a line of the screen in pixels. Most monospaced characters are 0.6 of the size of the font wide. */
const [cell, line, fontSize] = [8, 18, 13.3];
const [margin, bar, foot] = [16, 34, 48];
const baseline = 13.5;

/**
 * The frames one after the other, again and again, as a picture that needs no script, no fonts and no other files. Each run
 * is as wide as its cells in every font, so that columns stay aligned.
 */
export function animationOf(frames: readonly Frame[], looks: Looks): string {
  const { columns, rows, title, description, back, front, still } = looks;
  const [width, height] = [columns * cell + 2 * margin, rows * line + bar + foot];
  const seconds = frames.reduce((sum, frame) => sum + frame.seconds, 0);
  const known = new Map<string, string>();
  const shown = frames.map((frame, i) => {
    const inside = frame.rows.map((row, y) => {
      const drawn = drawRow(row, columns);
      if (drawn === "") return "";
      const id = known.get(drawn) ?? `r${known.size}`;
      known.set(drawn, id);
      return `<use href="#${id}" y="${y * line}"/>`;
    });
    const hidden = i === still ? "" : ` visibility="hidden"`;
    const caption = drawCaption(frame, rows * line, front);
    return `<g class="f" style="animation-name:f${i}"${hidden}>${inside.join("")}${caption}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:${fontSize}px}
.f{animation:${round(seconds)}s step-end infinite}
.p{animation:p ${round(seconds)}s linear infinite}
@keyframes p{from{transform:scaleX(0)}}
${timesOf(frames).join("\n")}
@media(prefers-reduced-motion:reduce){.f,.p{animation:none}.p{visibility:hidden}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="${back}"/>
<g fill="${front}">
${[0, 1, 2].map((i) => `<circle cx="${margin + 6 + i * 20}" cy="17" r="6" fill-opacity=".2"/>`).join("")}
<text x="${width / 2}" y="21.5" text-anchor="middle" fill-opacity=".6">${escaped(title)}</text>
<rect y="${height - foot + 5}" width="${width}" height="1" fill-opacity=".15"/>
<rect class="p" y="${height - foot + 5}" width="${width}" height="1" fill-opacity=".5"/>
</g>
<defs>
${[...known].map(([drawn, id]) => `<g id="${id}">${drawn}</g>`).join("\n")}
</defs>
<g transform="translate(${margin} ${bar})">
${shown.join("\n")}
</g>
</svg>
`;
}

/** For each frame when it is seen. */
function timesOf(frames: readonly Frame[]): readonly string[] {
  const whole = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let begin = 0;
  return frames.map(({ seconds }, i) => {
    const [from, to] = [begin, begin + seconds];
    begin = to;
    const steps = [
      ...(i === 0 ? [] : ["0%{visibility:hidden}"]),
      `${round((100 * from) / whole)}%{visibility:visible}`,
      i === frames.length - 1 ? "to{visibility:visible}" : `${round((100 * to) / whole)}%,to{visibility:hidden}`,
    ];
    return `@keyframes f${i}{${steps.join("")}}`;
  });
}

function drawRow(row: Row, columns: number): string {
  const backs = backsOf(row).map(({ at, width, back }) => {
    // What is coloured from edge to edge of the screen goes on to the edges of the picture.
    const [left, right] = [at === 0 ? margin / 2 : 0, at + width === columns ? margin / 2 : 0];
    return `<rect x="${at * cell - left}" width="${width * cell + left + right}" height="${line}" fill="${back}"/>`;
  });
  return [...backs, ...row.flatMap(wordsOf).map(drawRun)].join("");
}

/** Where something is behind the text. Neighbours with the same colour are one: between two there would be a gap. */
function backsOf(row: Row): readonly Pick<Run, "at" | "width" | "back">[] {
  const found: Pick<Run, "at" | "width" | "back">[] = [];
  for (const { at, width, back } of row) {
    if (back === undefined) continue;
    const last = found.at(-1);
    if (last?.back === back && last.at + last.width === at)
      found[found.length - 1] = { ...last, width: last.width + width };
    else found.push({ at, width, back });
  }
  return found;
}

/** The pieces of a run without longer spaces. A character of another font is alone, so that it moves no other one. */
function wordsOf(run: Run): readonly Run[] {
  if (run.text.length !== run.width) return [run];
  return [...run.text.matchAll(/─+|[!-~]+(?: [!-~]+)*|[^ ]/g)].map(({ 0: text, index }) => ({
    ...run,
    ...{ text, at: run.at + index, width: text.length },
  }));
}

function drawRun({ at, text, width, colour, isBold }: Run): string {
  const x = at * cell;
  // Characters would leave gaps.
  if (text.startsWith("─"))
    return `<rect x="${x}" y="${line / 2}" width="${width * cell}" height="1" fill="${colour}"/>`;
  return drawText(text, { x, y: baseline, width, colour, isBold });
}

/** The pressed keys as caps, and what they do. */
function drawCaption({ keys, caption }: Frame, top: number, front: string): string {
  const [y, height, inside, between] = [top + 15, 22, 7, 6];
  const drawn: string[] = [];
  let x = 0;
  const write = (text: string, at: number, isBold: boolean) =>
    drawn.push(drawText(text, { x: at, y: y + 15.5, width: text.length, colour: front, isBold }));
  for (const key of keys) {
    const width = key.length * cell + 2 * inside;
    const border = `fill="none" stroke="${front}" stroke-opacity=".6"`;
    drawn.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" ${border}/>`);
    write(key, x + inside, true);
    x += width + between;
  }
  write(caption, keys.length === 0 ? 0 : x + between, false);
  return drawn.join("");
}

interface Place {
  readonly x: number;
  readonly y: number;
  /** In columns. */
  readonly width: number;
  readonly colour: string;
  readonly isBold: boolean;
}

function drawText(text: string, { x, y, width, colour, isBold }: Place): string {
  const weight = isBold ? ` font-weight="bold"` : "";
  const size = `textLength="${width * cell}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${x}" y="${y}" ${size} fill="${colour}"${weight}>${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const round = (value: number) => Number(value.toFixed(3));
