// Adds lock entries for optional platform packages that this registry did not offer, so that `npm ci` accepts the lock.
import fs from "node:fs";

const file = "package-lock.json",
  lock = JSON.parse(fs.readFileSync(file, "utf8"));
const os = ["darwin", "linux", "win32", "android", "freebsd", "openbsd", "netbsd", "openharmony", "aix", "sunos"],
  cpu = ["x64", "arm64", "arm", "ia32", "ppc64", "s390x", "riscv64", "loong64", "mips64el", "wasm32"];
let n = 0;
for (const [path, e] of Object.entries(lock.packages))
  for (const [name, version] of Object.entries(e.optionalDependencies ?? {})) {
    if (lock.packages[`node_modules/${name}`] || lock.packages[`${path}/node_modules/${name}`]) continue;
    const words = name.split(/[/-]/),
      o = os.find((x) => words.includes(x)),
      c = cpu.find((x) => words.some((w) => w === x || (x === "arm" && w === "arm")));
    lock.packages[`node_modules/${name}`] = {
      // In the order in which npm writes them.
      version,
      cpu: [c ?? "wasm32"],
      ...(e.dev ? { dev: true } : {}),
      ...(words.some((w) => w.startsWith("musl")) ? { libc: ["musl"] } : {}),
      optional: true,
      ...(o ? { os: [o] } : {}),
    };
    n++;
  }
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log("added", n);
