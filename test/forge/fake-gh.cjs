// Imitates `gh auth token` with the token in the file beside it (see place-gh.ts).
const { appendFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const { host, token } = JSON.parse(readFileSync(join(__dirname, "told.json"), "utf8"));
const argv = process.argv.slice(2);
appendFileSync(join(__dirname, "calls"), `${JSON.stringify({ argv, env: process.env })}\n`);
if (argv.join(" ") !== `auth token --hostname ${host}` || token === "") {
  process.stderr.write(`no oauth token found for ${host}\n`);
  process.exit(1);
}
process.stdout.write(`${token}\n`);
