/** Characters that nobody sees, or that change the direction of writing: at least one of each kind that a text can have. */
export const hiddenCharacters: readonly string[] = [
  ...range(0xfe00, 0xfe0f),
  ...range(0x180b, 0x180f),
  ...range(0x1d173, 0x1d17a),
  ...range(0x1bca0, 0x1bca3),
  ...range(0x200b, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x206f),
  ...range(0xfff0, 0xfffb),
  ...range(0xfdd0, 0xfdef),
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xfeff, 0xffa0, 0xfffe, 0x1ffff].map(
    character,
  ),
  ...[0x13430, 0x16fe4, 0x1d159, 0xe0000, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xe01f0, 0xe0fff].map(character),
];

/** Texts in which every character has an effect that is seen. */
export const joinedTexts: readonly string[] = [
  "❤️ ⚡️ 1️⃣ ↩︎",
  "👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 🏃‍♀️ ❤️‍🔥 🙂‍↔️",
  "می‌خواهم क्‍ष র‍্য",
  "größe 日本 ☕ é",
];

function range(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => character(first + i));
}

function character(code: number): string {
  return String.fromCodePoint(code);
}
