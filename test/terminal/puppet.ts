// A program that follows commands from a socket in its folder, and records every byte of its input.
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Told = { readonly print: string } | { readonly exit: number } | { readonly kill: NodeJS.Signals };

const folder = process.argv[2] ?? "";
appendFileSync(join(folder, "starts"), `${process.pid}\n`);
process.stdin.setRawMode?.(true);
process.stdin.on("data", (chunk) => appendFileSync(join(folder, "received"), chunk));
createServer((connection) => {
  createInterface(connection).on("line", (line) => {
    const told: Told = JSON.parse(line);
    if ("exit" in told) process.exit(told.exit);
    if ("kill" in told) process.kill(process.pid, told.kill);
    if ("print" in told) process.stdout.write(told.print, () => connection.end("done"));
  });
}).listen(join(folder, "socket"), () => process.stdout.write("\x1b[?2004hready\r\n"));
