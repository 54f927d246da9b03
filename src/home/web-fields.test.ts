import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { configFields } from "./config-fields.ts";
import { publicOrigin } from "./web-fields.ts";

const originOf = (address: string) => {
  const { config, problems } = readConfig(`web:\n  address: ${JSON.stringify(address)}\n`, "config.yml", "user");
  return problems.length > 0 ? undefined : publicOrigin(config);
};

test.each([
  ["https://box.example.ts.net", "https://box.example.ts.net"],
  ["https://Box.Example.TS.net:443/", "https://box.example.ts.net"],
  ["https://box.example:8443", "https://box.example:8443"],
  ["http://localhost:9000", "http://localhost:9000"],
  ["http://127.0.0.1:9000/", "http://127.0.0.1:9000"],
  ["", ""],
])("the address %j counts as browsers write it", (address, origin) => {
  expect(originOf(address)).toBe(origin);
});

test.each([
  ...[
    "http://box.example",
    "box.example",
    "https://box.example/app",
    "https://box.example/?a",
    "https://box.example/#a",
  ],
  ...[
    "https://me@box.example",
    "https://me:word@box.example",
    "ftp://box.example",
    "http://localhost.evil.example",
    "null",
  ],
])("the address %j is refused, because the cookie could be read on the way, or it is no origin", (address) => {
  expect(originOf(address)).toBeUndefined();
});

test("every key with a dot is known in a configuration file", () => {
  for (const { key, default: value } of Object.values(configFields)) {
    const text = JSON.stringify(key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value));
    expect([key, readConfig(text, "config.yml", "user").problems]).toEqual([key, []]);
  }
});
