import fc from "fast-check";
import { expect, test } from "vitest";
import { ownTime } from "../../../test/scripted-ports.ts";
import { isSecretKey, redact } from "./redact.ts";

// Assembled at run time, so that no scanner takes this file for a leak.
const secret = ["Zx9", "QpLm42", "vRt7Kd"].join("");

const planted: readonly (readonly [what: string, text: string, becomes: string])[] = [
  ["the token of a home", "sent sbh_0123456789abcdef to it", "sent sbh_… to it"],
  ["the token of a run", "sbr_deadbeef00", "sbr_…"],
  ["a header", `Authorization: Bearer ${secret}`, "Authorization: …"],
  ["a header in small letters", `{ authorization: Bearer ${secret} }`, "{ authorization: … }"],
  ["a header with a name and password", `proxy-authorization: Basic ${secret}==, x`, "proxy-authorization: …, x"],
  ["a header without a scheme", `authorization: ${secret}`, "authorization: …"],
  ["name and password in a URL", `https://me:${secret}@example.org/x.git`, "https://…@example.org/x.git"],
  ["a password with an at sign", `https://me:a@${secret}@example.org`, "https://…@example.org"],
  ["a token in a URL", `https://${secret}@example.org/x`, "https://…@example.org/x"],
  ["a database's password", `postgres://me:${secret}@db/x`, "postgres://…@db/x"],
  ["a variable", `GITHUB_TOKEN=${secret} npm test`, "GITHUB_TOKEN=… npm test"],
  ["a quoted variable", `export password="two ${secret}" && x`, 'export password="…" && x'],
  ["a query", `/x?access_token=${secret}&page=2`, "/x?access_token=…&page=2"],
  ["a flag", `--api-key=${secret} --verbose`, "--api-key=… --verbose"],
  ["a key of AWS", `aws_secret_access_key=${secret}`, "aws_secret_access_key=…"],
  ["JSON", `{"client_secret": "${secret}","a":1}`, '{"client_secret": "…","a":1}'],
  ["JSON with a quote in the value", `{"password":"a\\"${secret}","a":1}`, '{"password":"…","a":1}'],
  [
    "JSON inside JSON",
    `{"body":"{\\"apiKey\\":\\"${secret}\\",\\"a\\":1}"}`,
    '{"body":"{\\"apiKey\\":\\"…\\",\\"a\\":1}"}',
  ],
  ["JSON that was cut off", `{"a":1,"token":"${secret}`, '{"a":1,"token":"…'],
  ["a dictionary of Python", `{'apikey': '${secret}'}`, "{'apikey': '…'}"],
  ["a header as JSON", `{"Authorization":"Bearer ${secret}"}`, '{"Authorization":"…"}'],
  ["a key of Anthropic", `key sk-ant-api03-${secret}-_x.`, "key sk-…."],
  ["a key of OpenAI", `sk-proj-${secret}`, "sk-…"],
  ...["ghp", "gho", "ghs", "ghu", "ghr"].map(
    (prefix) => [`a token of GitHub, ${prefix}`, `(${prefix}_${secret})`, `(${prefix}_…)`] as const,
  ),
  ["a fine-grained token of GitHub", `github_pat_${secret}_${secret}`, "github_pat_…"],
  ...["xoxa", "xoxb", "xoxp"].map(
    (prefix) => [`a token of Slack, ${prefix}`, `${prefix}-12345-${secret}`, `${prefix}-…`] as const,
  ),
  [
    "a token of a Telegram bot",
    `https://t.example/bot123456789:${"AAE".repeat(12)}/getMe`,
    "https://t.example/bot123456789:…/getMe",
  ],
  ["a key id of AWS", `AKIA${"IOSFODNN7EXAMPLE"} x`, "AKIA… x"],
  ["a token of GitLab", `glpat-${secret}`, "glpat-…"],
];

test.each(planted)("%s is redacted", (_what, text, becomes) => {
  expect(redact(text)).toBe(becomes);
  expect(redact(`before ${text}\nafter`)).toBe(`before ${becomes}\nafter`);
});

test.each([
  "3f786850e387550fdab836ed7e6dc881de23001b is the head of signalbox/brew-1a2b3c4d",
  "coffee#12 t_8f3k2m worker#1 sbh_ sb_12345678",
  "The token is missing. Unexpected token '<' at 3. Token: none",
  "tokens=1500 max_tokens=8000 token_count=3 inputTokens: 12",
  '{"tokens":"1500","secretary":"Ann","a":"b"}',
  'token= and password="" and {"secret":""} say nothing',
  "if (token==other) token=>other",
  "authorization: failed for worker",
  "git@github.com:me/coffee.git ssh://git@github.com/me/coffee.git https://example.org/@me/x",
  "https://example.org:8080/a?b=c#d mail me@example.org",
  "task-force risk-assessment-2024-report sk-learn desk-12345678",
  "/home/me/.signalbox/daemon.log 2026-07-01T12:03:11.000Z 127.0.0.1:4711",
])("ordinary text is not changed: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test("keys of secrets are distinguished from keys that count or describe", () => {
  const yes = ["token", "GITHUB_TOKEN", "accessToken", "client-secret", "dbPassword", "api_key", "apiKey", "APIKEY"];
  const no = ["tokens", "inputTokens", "token_count", "secretary", "key", "author", "passwordless", ""];
  expect(yes.filter((key) => !isSecretKey(key))).toEqual([]);
  expect(no.filter(isSecretKey)).toEqual([]);
});

test("redacting is idempotent", () => {
  // A text that was cut off may continue with anything, so these cases are left out.
  const whole = planted.flatMap(([what, text]) => (what.includes("cut off") ? [] : [text]));
  const piece = fc.oneof(fc.constantFrom(...whole), fc.string());
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const once = redact(pieces.join(" "));
      expect(once).not.toContain(secret);
      expect(redact(once)).toBe(once);
    }),
  );
});

test("a very long text is redacted quickly", () => {
  const start = ownTime();
  for (const piece of [
    "a",
    "sk-",
    "token",
    'token":"',
    "://",
    "https://a",
    "\\",
    "authorization: ",
    "xoxb-",
    "=",
    " ",
  ]) {
    redact(piece.repeat(200_000 / piece.length));
  }
  expect(ownTime() - start).toBeLessThan(2_000);
});
