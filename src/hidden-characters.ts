/**
 * Replaces every character that nobody sees, and every one that changes the direction of writing: it could split a word that a
 * person searches for, make two names look the same, or carry a text for models alone. Where they have an effect that is seen,
 * these stay: a joiner between letters of a script that joins them, a joiner between emoji, and a selector directly after an
 * emoji (❤️ is U+2764 U+FE0F).
 */
export function replaceHidden(text: string, replace: (character: string) => string): string {
  if (asciiOnly.test(text)) return text;
  return text.replace(hidden, (character, at: number) => {
    needed.lastIndex = at;
    return needed.test(text) ? character : replace(character);
  });
}

/** Whether a text has any of these characters, also one that has an effect. */
export function hasHidden(text: string): boolean {
  return text.search(hidden) >= 0;
}

const asciiOnly = /^\p{ASCII}*$/u;
/**
 * What Unicode says not to show where it is not supported, among them spaces without a width, fillers, selectors, tags and
 * bidirectional marks; besides what has no ink (a blank Braille pattern, a note without a head, a filler of Khitan), what formats
 * hieroglyphs and annotations, and what is no character at all.
 */
const hidden =
  /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}\u{1d159}]/gu;

/** Scripts in which a joiner changes how the letters beside it look. */
const joining = "Arab Beng Deva Gujr Guru Khmr Knda Mand Mlym Mong Mymr Nkoo Orya Phag Sinh Syrc Taml Telu Tibt"
  .split(" ")
  .map((script) => `\\p{scx=${script}}`)
  .join("");
const letter = `(?!\\p{Default_Ignorable_Code_Point})[${joining}]`;
const needed = new RegExp(
  [
    "(?<=(?!\\p{ASCII})\\p{Emoji})[\\ufe0e\\ufe0f]",
    // A digit on a key: 1️⃣.
    "(?<=[#*0-9])\\ufe0f(?=\\u20e3)",
    "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})",
    `(?<=${letter})[\\u200c\\u200d](?=${letter})`,
  ].join("|"),
  "uy",
);
