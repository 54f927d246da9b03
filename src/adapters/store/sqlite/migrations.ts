const kinds = ["agent", "workspace", "run", "credential", "finding", "message", "conversation", "usage"];

/**
 * The database's versions, one script each. A script that has been released is never changed: databases out there have run
 * it. Times are milliseconds, JSON is text.
 *
 * A transition costs its fsync and, after that, the pages it writes. So what belongs to a task points at the task's
 * position, not at its id: positions of tasks that are alive together are near each other, and so are their index entries.
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
  data text not null,
  unique (project, number)
) strict;
create index task_by_project on task (project, position);
create index task_by_status on task (status, position, project);
create index task_by_parent on task (parent, position) where parent <> '';
create index open_task on task (position, project) where is_open = 1;
-- A branch belongs to one open task; what ended may have had it before.
create unique index open_branch on task (branch, project) where is_open = 1 and branch <> '';

create table document (
  task integer primary key references task (position) on delete cascade,
  text text not null,
  authors text not null
) strict;

create table event (
  position integer primary key autoincrement,
  task integer not null references task (position) on delete cascade,
  project text not null,
  revision integer not null,
  type text not null,
  actor text not null,
  data text not null,
  changes text not null,
  at integer not null
) strict;
create index event_by_task on event (task, position);
create index event_by_project on event (project, position);

create table effect (
  id integer primary key autoincrement,
  task integer not null references task (position) on delete cascade,
  entry integer not null,
  effect text not null,
  state text not null,
  due_at integer not null,
  tries integer not null,
  failure text,
  done_at integer
) strict;
create index effect_by_task on effect (task, id);
create index open_effect on effect (task, id) where state in ('owed', 'failed');

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
];

/** Records of one kind. */
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
