import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isObjectId } from "./check-names.ts";
import { entryAt } from "./entry-at.ts";
import { readFileAt, readSmall } from "./workspace/read-git-folder.ts";

/**
 * The refs in a folder of refs such as `refs/heads/`, by the rest of their names, whose bytes are kept as they are. Nothing
 * runs, and no link is followed. Undefined where the files do not say it plainly: then git has to be asked.
 */
export async function listRefs(commonFolder: string, folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  if (entryAt(join(commonFolder, "reftable")) !== undefined) return undefined;
  const loose = new Map<string, string>();
  if (!(await readLoose(Buffer.from(join(commonFolder, folder)), "", loose))) return undefined;
  // After the others: what is packed meanwhile is in one of both.
  const packed = await readPacked(commonFolder, folder);
  return packed && new Map([...new Map([...packed, ...loose])].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** False where something is there that is no ref as it should be. */
async function readLoose(folder: Buffer, above: string, into: Map<string, string>): Promise<boolean> {
  for (const entry of entriesIn(folder)) {
    const name = `${above}${entry.name.toString("latin1")}`;
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) {
      if (!(await readLoose(path, `${name}/`, into))) return false;
      continue;
    }
    // Somebody is about to write it; until then it is what it was.
    if (name.endsWith(".lock")) continue;
    const id = entry.isFile() && isRefName(name) ? await readId(path) : "";
    if (id === undefined) continue;
    if (id === "") return false;
    into.set(name, id);
  }
  return true;
}

/** Undefined where it is gone by now, empty where it is no id. */
async function readId(path: Buffer): Promise<string | undefined> {
  const text = path.toString("utf8");
  // A name that is not written in UTF-8 cannot be read by this reader.
  if (!Buffer.from(text).equals(path)) return "";
  const content = await readSmall(text);
  if (content === undefined) return entryAt(path) === undefined ? undefined : "";
  return isObjectId(content.trim()) ? content.trim() : "";
}

async function readPacked(commonFolder: string, folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  const path = join(commonFolder, "packed-refs");
  const refs = new Map<string, string>();
  if (entryAt(path) === undefined) return refs;
  const bytes = await readFileAt(path, mostPacked);
  if (typeof bytes === "string") return undefined;
  for (const line of bytes.toString("latin1").split("\n")) {
    const [id = "", ref = ""] = splitOnce(line);
    if (!ref.startsWith(folder) || line.startsWith("#") || line.startsWith("^")) continue;
    const name = ref.slice(folder.length);
    if (!isObjectId(id) || !isRefName(name)) return undefined;
    refs.set(name, id);
  }
  return refs;
}

const mostPacked = 64 * 1024 * 1024;

/** What git takes for the name of a ref, and a little less. */
function isRefName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them.
  return !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|(^|\/)[.-]|\.lock(\/|$)|[./]$|^@$/.test(name);
}

function entriesIn(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    // Git removes folders that are empty.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}
