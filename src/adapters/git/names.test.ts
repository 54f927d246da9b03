import { expect, test } from "vitest";
import { hiddenCharacters } from "../../../test/hidden-characters.ts";
import { fileName } from "./names.ts";

test("a file's name that has a hidden character is shown by its bytes, so that it does not look like another's", () => {
  for (const character of hiddenCharacters)
    expect(fileName(Buffer.from(`src/ma${character}in.ts`)).text).toMatch(/^"src\/ma(?:\\[0-7]{3})+in\.ts"$/);
  expect(fileName(Buffer.from("docs/❤️ größe 日本.md")).text).toBe("docs/❤️ größe 日本.md");
});
