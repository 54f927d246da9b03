import { buildRouteMap } from "@stricli/core";
import { attach, logs, peek, reply, respawn, send, spawn } from "./task-agent-commands.ts";
import { create, deleteTask, edit, migrate, update } from "./task-change-commands.ts";
import { cancel, continueTask, createPr, retry } from "./task-go-commands.ts";
import { merge, sync } from "./task-merge-commands.ts";
import { answer, approve, requestChanges } from "./task-person-commands.ts";
import { actions, explain, exportTask, history, list, show, wait } from "./task-read-commands.ts";
import { diff, open, path, shell } from "./task-work-commands.ts";

export const taskCommands = buildRouteMap({
  routes: {
    create,
    list,
    show,
    explain,
    wait,
    actions,
    update,
    edit,
    answer,
    approve,
    "request-changes": requestChanges,
    continue: continueTask,
    cancel,
    retry,
    spawn,
    respawn,
    attach,
    send,
    reply,
    peek,
    logs,
    diff,
    path,
    shell,
    open,
    merge,
    sync,
    "create-pr": createPr,
    history,
    migrate,
    export: exportTask,
    delete: deleteTask,
  },
  aliases: { ls: "list", new: "create", rm: "delete" },
  docs: { brief: "Create tasks, look at them, and move them along" },
});
