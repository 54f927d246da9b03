// Appends a hook's input to a file, as one line: its last argument, or its standard input.
import { appendFileSync, readFileSync } from "node:fs";

const [, , file, given] = process.argv;
const text = given ?? readFileSync(0, "utf8");
appendFileSync(file, `${JSON.stringify(JSON.parse(text))}\n`);
