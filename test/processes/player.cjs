// A program that follows the steps in its argument. The scripted twin takes the same steps in memory.
const fs = require("node:fs");

const steps = JSON.parse(process.argv[2] ?? "[]");
play(0);

function play(at) {
  const step = steps[at];
  if (step === undefined) return;
  const next = () => play(at + 1);
  if (step.print !== undefined) fs.writeSync(step.on === "errors" ? 2 : 1, step.print);
  if (step.echo) fs.writeSync(1, fs.readFileSync(0));
  if (step.ignore) process.on("SIGTERM", () => {});
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.signal !== undefined) process.kill(process.pid, step.signal);
  if (step.wait !== undefined) return void setTimeout(next, step.wait);
  if (step.hang || step.signal !== undefined) return void setInterval(() => {}, 1_000);
  next();
}
