const kinds = [
  "agent",
  "workspace",
  "run",
  "credential",
  // Unused: findings are part of their task.
  "finding",
  "message",
  "conversation",
  "usage",
  "merge",
  "pull_request",
];

/** A condition for runs whose end is not recorded. */
export const isLive = "json_extract(data, '$.endedAt') is null";

/**
 * The database's versions, one script each. A released script is never changed: existing databases have run it. Times
 * are milliseconds, JSON is text.
 *
 * A decision costs its fsync and the pages it writes: the task's, the end of the history, and an index page if the task
 * begins to owe an effect. So there is no other index that an ordinary decision would change.
 */
export const migrations: readonly string[] = [
  `
create table project (
  name text primary key,
  data text not null,
  -- Counts on when a task is deleted: a number never names another task.
  last_number integer not null
) strict;

create table task (
  position integer primary key autoincrement,
  id text not null unique,
  project text not null references project (name),
  number integer not null,
  branch text not null,
  status text not null,
  parent text not null,
  is_open integer not null,
  revision integer not null,
  created_at integer not null,
  updated_at integer not null,
  -- Its last row of history; 0 where there is none.
  last integer not null,
  -- Its first open effect, and when that is due; what has failed is due at no time.
  owed integer,
  due_at integer,
  data text not null,
  unique (project, number)
) strict;
create index task_by_project on task (project, position);
create index task_by_parent on task (parent, position) where parent <> '';
create index open_task on task (position, project) where is_open = 1;
-- Open tasks are few, and change their status all the time: they are not in it.
create index over_task on task (status, position, project) where is_open = 0;
create index due_task on task (due_at, owed) where due_at is not null;
-- A branch belongs to one open task; what ended may have had it before.
create unique index open_branch on task (branch, project) where is_open = 1 and branch <> '';

create table document (
  task integer primary key references task (position) on delete cascade,
  text text not null,
  authors text not null
) strict;

-- What happened to a task at once. Events and effects have numbers out of one count; those of a row end with its id.
create table history (
  id integer primary key,
  -- The task's position. 0: the task is gone, and the row is left only to count on from.
  task integer not null,
  -- The row before of the same task; 0 where this is the first.
  previous integer not null,
  revision integer not null,
  entry integer not null,
  at integer not null,
  -- A letter for each effect: owed, done, failed, x for dropped. What is owed before the task's first open one is done.
  states text not null,
  -- JSON; null where there are none.
  events text,
  effects text,
  -- JSON: tries, failures and later due times of effects that have failed before.
  troubles text
) strict;

create table workflow (
  hash text primary key,
  name text not null,
  text text not null
) strict;

create table artifact (
  id integer primary key autoincrement,
  task integer not null references task (position) on delete cascade,
  section text not null,
  text text not null,
  hash text not null,
  role text not null,
  run text not null,
  commit_id text not null,
  at integer not null
) strict;
create index artifact_by_task on artifact (task, id);
${kinds.map(tableOf).join("")}`,
  `create index live_run on run (at, position) where ${isLive};`,
  tableOf("person_call"),
  tableOf("seen"),
  // Projects without a kind of workspaces have had worktrees.
  `update project set data = json_set(data, '$.workspaces', 'worktree') where json_extract(data, '$.workspaces') is null`,
  // Which try at which item of its parent's plan a child is; null for other tasks. It never changes.
  `alter table task add column part text;
create unique index child_part on task (parent, part) where part is not null;`,
  tableOf("chat_question"),
  // Of a document that a run has handed over; null for a section.
  `alter table artifact add column type text;
alter table artifact add column state text;`,
  tableOf("work_size"),
  // When a task entered its state: the first row of history of its present stay.
  `alter table task add column entered_at integer not null default 0;
update task set entered_at = stay.at
from (select task, entry, min(at) as at from history group by task, entry) as stay
where stay.task = task.position and stay.entry = json_extract(task.data, '$.entry');
update task set entered_at = updated_at where entered_at = 0;`,
  // Links and sessions of browsers, by the hash of their secret. They belong to no project.
  `create table web_key (
  position integer primary key,
  id text not null unique,
  data text not null
) strict;`,
];

/** The table for records of one kind. */
function tableOf(kind: string): string {
  return `
create table ${kind} (
  position integer primary key,
  id text not null unique,
  project text not null references project (name) on delete cascade,
  -- Null where it belongs to no task.
  task text references task (id) on delete cascade,
  at integer not null,
  data text not null
) strict;
create index ${kind}_by_project on ${kind} (project, at, position);
create index ${kind}_by_task on ${kind} (task, at, position);
`;
}
