import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { sep } from "node:path";

/** Variables that programs which a person has started have, and commands of a project do not get. */
const ofPersons = [
  ...["TERM", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_CLIENT", "XDG_SESSION_ID", "XDG_RUNTIME_DIR"],
  ...["TMUX", "STY", "DBUS_SESSION_BUS_ADDRESS"],
];

/**
 * The processes in a folder (by their working folder, their root or an open file) that no mark identifies and that no person
 * has started: they have cleared their environment, or belong to something that has. A person's programs have a terminal, or
 * name one or a session in their environment. Only on Linux; empty elsewhere.
 */
export function straysIn(folder: string): readonly number[] {
  const real = realOf(folder);
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => isInside(name, real) && !isPersons(name))
    .map(Number);
}

function isInside(pid: string, folder: string): boolean {
  const isIn = (path: string) => path === folder || path.startsWith(`${folder}${sep}`);
  if (["cwd", "root"].some((name) => isIn(linkAt(`/proc/${pid}/${name}`)))) return true;
  const open = `/proc/${pid}/fd`;
  return namesIn(open).some((name) => isIn(linkAt(`${open}/${name}`)));
}

function isPersons(pid: string): boolean {
  const stat = textAt(`/proc/${pid}/stat`);
  // A program's name may contain spaces and parentheses; after the last parenthesis there are only numbers.
  const [, , , , terminal = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || terminal !== "0") return true;
  const environment = `\0${textAt(`/proc/${pid}/environ`)}`;
  // What has marks is found by them, and may belong to another task.
  return environment.includes("\0SIGNALBOX_") || ofPersons.some((name) => environment.includes(`\0${name}=`));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty if the process has ended, or belongs to another user. */
function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
