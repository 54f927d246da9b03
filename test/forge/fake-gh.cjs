// Does what `gh api` and `gh auth token` do, with the GitHub that is told in the file beside it (see place-gh.ts).
const { appendFileSync, readFileSync } = require("node:fs");
const http = require("node:http");
const { join } = require("node:path");

const { url: github, host: ownHost, token } = JSON.parse(readFileSync(join(__dirname, "told.json"), "utf8"));
const argv = process.argv.slice(2);
appendFileSync(join(__dirname, "calls"), `${JSON.stringify({ argv, env: process.env })}\n`);
const fail = (code, text) => {
  process.stderr.write(`${text}\n`);
  process.exit(code);
};

const command = argv.shift();
if (command === "auth") {
  if (argv.join(" ") !== `token --hostname ${ownHost}` || token === "") fail(1, `no oauth token found for ${ownHost}`);
  process.stdout.write(`${token}\n`);
  process.exit(0);
}
if (command !== "api") fail(1, `unknown command "${command}"`);
if (token === "") fail(4, "To get started with GitHub CLI, please run:  gh auth login");

let method = "GET";
let host = "github.com";
let isIncluded = false;
let takesInput = false;
let path;
const headers = { authorization: `Bearer ${token}`, "user-agent": "GitHub CLI" };
while (argv.length > 0) {
  const word = argv.shift();
  if (word === "--method") method = argv.shift();
  else if (word === "--hostname") host = argv.shift();
  else if (word === "--include") isIncluded = true;
  else if (word === "--input" && argv.shift() === "-") takesInput = true;
  else if (word === "-H") {
    const [name, ...rest] = argv.shift().split(":");
    headers[name] = rest.join(":").trim();
  } else if (word.startsWith("-") || path !== undefined) fail(1, `unknown flag: ${word}`);
  else path = word;
}
if (host !== ownHost) fail(4, "To get started with GitHub CLI, please run:  gh auth login");
if (/[{}]|\/:(owner|repo|branch)\b/.test(path)) fail(1, "unable to expand placeholder in path");

const chunks = [];
if (takesInput) process.stdin.on("data", (part) => chunks.push(part)).on("end", () => ask(`${github}/${path}`));
else ask(`${github}/${path}`);

function ask(url) {
  const request = http.request(url, { method, headers, agent: false }, (response) => {
    const { statusCode, statusMessage } = response;
    // Go follows redirects by itself.
    if ([301, 302, 307, 308].includes(statusCode)) {
      response.resume();
      return ask(response.headers.location);
    }
    const shown = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const root = `https://api.${ownHost}`;
    if (isIncluded)
      process.stdout.write(`HTTP/1.1 ${statusCode} ${statusMessage}\n${shown.join("").replaceAll(github, root)}\r\n`);
    const parts = [];
    response.on("data", (part) => parts.push(part));
    response.on("error", () => fail(1, "unexpected EOF"));
    response.on("end", () => {
      process.stdout.write(Buffer.concat(parts), () => {
        if (statusCode > 299) fail(1, `gh: HTTP ${statusCode}`);
        process.exit(0);
      });
    });
  });
  request.on("error", () => fail(1, `error connecting to ${ownHost}\ncheck your internet connection`));
  request.end(Buffer.concat(chunks));
}
