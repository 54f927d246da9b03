// Appends what a hook is told to a file, as one line: from its last argument, or from its standard input.
import { appendFileSync, readFileSync } from "node:fs";

const [, , file, given] = process.argv;
const text = given ?? readFileSync(0, "utf8");
appendFileSync(file, `${JSON.stringify(JSON.parse(text))}\n`);
