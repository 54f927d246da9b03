import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

/** The built page, served to browsers. It is the same for everybody, so it needs no credential. */
export interface Page {
  /** Answers a GET or HEAD outside of the API. False if there is nothing at the path. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

interface Part {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly type: string;
  /** Missing where it would not be smaller. */
  readonly gzipped?: Buffer;
}

const start = "/index.html";
/** Their names change with their content. */
const assets = "/assets/";

/**
 * Serves the files of a folder, which are read once, and again after the page was built anew. Only paths that the folder's
 * listing has are known, so no path leads out of it.
 */
export function createPage(folder: string): Page {
  let built = "";
  let paths: ReadonlySet<string> = new Set();
  let parts = new Map<string, Promise<Part>>();
  /** A build replaces the whole folder, with its start page. */
  const look = () => {
    const found = statSync(join(folder, start), { throwIfNoEntry: false });
    const now = found === undefined ? "" : `${found.ino} ${found.mtimeMs}`;
    if (now === built) return;
    paths = new Set(now === "" ? [] : filesIn(folder));
    parts = new Map();
    built = now;
  };
  const partAt = (path: string): Promise<Part> => {
    const known = parts.get(path) ?? readPart(join(folder, path), path);
    parts.set(path, known);
    // A build may have removed it just then.
    known.catch(() => parts.delete(path));
    return known;
  };
  return {
    async serve(request, response) {
      const { headers, method = "", url = "" } = request;
      if (method !== "GET" && method !== "HEAD") return false;
      look();
      const path = url.split("?", 1)[0] ?? "";
      if (!path.startsWith("/")) return false;
      const isFile = path !== start && paths.has(path);
      if (!isFile && !accepts(headers.accept, "text/html")) return false;
      if (!paths.has(start)) return sayNotBuilt(response);
      const part = await partAt(isFile ? path : start);
      const { gzipped } = part;
      const isZipped = gzipped !== undefined && acceptsGzip(request);
      const bytes = isZipped ? gzipped : part.bytes;
      const isAsset = isFile && path.startsWith(assets);
      const isSame = (headers["if-none-match"] ?? "").split(",").some((each) => each.trim() === part.etag);
      response.writeHead(isSame ? 304 : 200, {
        ...pageHeaders,
        "content-type": part.type,
        // Nothing may keep the start page: it names the assets of its version.
        "cache-control": isAsset ? "public, max-age=31536000, immutable" : isFile ? "no-cache" : "no-store",
        etag: part.etag,
        vary: "accept-encoding",
        ...(isSame ? {} : { "content-length": bytes.length, ...(isZipped ? { "content-encoding": "gzip" } : {}) }),
      });
      response.end(isSame || method === "HEAD" ? undefined : bytes);
      return true;
    },
  };
}

/**
 * `style-src` allows inline styles, because terminals are drawn with them. Nothing is loaded from elsewhere; WebSockets to the
 * same host and port count as 'self'.
 */
const pageHeaders = {
  "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The paths of all files, from the folder's root, with a slash before. */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => encodeURI(join(parentPath, name).slice(folder.length).replaceAll("\\", "/")));
}

async function readPart(file: string, path: string): Promise<Part> {
  const bytes = readFileSync(decodeURI(file));
  const type = types[extname(path)] ?? "application/octet-stream";
  const etag = `W/"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;
  const gzipped = isText(type) ? await compress(bytes, { level: 9 }) : bytes;
  return { bytes, etag, type, ...(gzipped.length < bytes.length ? { gzipped } : {}) };
}

const isText = (type: string) => /^text\/|json|javascript|svg|wasm/.test(type);

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
  ".map": "application/json",
};

function sayNotBuilt(response: ServerResponse): true {
  response.writeHead(404, { ...pageHeaders, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end("The page of Signalbox is not built here: run npm run build in its repository, then reload.\n");
  return true;
}

function accepts(accept: string | undefined, type: string): boolean {
  return (accept ?? "").split(",").some((each) => each.split(";", 1)[0]?.trim().toLowerCase() === type);
}

/** Whether a client takes gzip, and does not refuse it with `q=0`. */
export function acceptsGzip({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const found = /(?:^|,)\s*gzip\s*(;\s*q=([\d.]+))?\s*(?:,|$)/i.exec(String(headers["accept-encoding"] ?? ""));
  return found !== null && Number(found[2] ?? 1) > 0;
}
