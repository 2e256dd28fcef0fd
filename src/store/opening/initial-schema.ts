/**
 * Migration 1 (sessions-events §14.1). Columns that queries compare stand before the JSON they were taken from, so
 * that reading them never touches overflow pages. Rows that belong to a session go with it; events and artifacts stay.
 */
export const INITIAL_SCHEMA = `
create table counters (
  name text primary key,
  value integer not null
) strict;

create table sessions (
  id text primary key,
  tenant_id text not null,
  parent_id text references sessions (id) on delete cascade check (parent_id <> id),
  directory text not null,
  path text,
  archived integer not null,
  updated integer not null,
  search_key text not null,
  summary text not null,
  json text not null
) strict;
create index sessions_all on sessions (tenant_id, updated desc, id desc, archived);
create index sessions_roots on sessions (tenant_id, updated desc, id desc, archived) where parent_id is null;
create index sessions_roots_here on sessions (tenant_id, directory, updated desc, id desc, archived) where parent_id is null;
create index sessions_children on sessions (parent_id) where parent_id is not null;

create table messages (
  key integer primary key,
  id text not null unique,
  session_id text not null references sessions (id) on delete cascade,
  position integer not null,
  open integer not null,
  info text not null,
  unique (session_id, position)
) strict;
create index messages_open on messages (session_id, position) where open = 1;

create table parts (
  id text not null unique,
  message_key integer not null references messages (key) on delete cascade,
  position integer not null,
  json text not null,
  unique (message_key, position)
) strict;

create table queue (
  key integer primary key,
  id text not null unique,
  session_id text not null references sessions (id) on delete cascade,
  message_id text not null,
  delivery text not null,
  created integer not null,
  request text not null
) strict;
create index queue_session on queue (session_id, key);
create index queue_message on queue (message_id);

create table runs (
  id text primary key,
  session_id text not null references sessions (id) on delete cascade,
  status text not null,
  started_at integer not null,
  finished_at integer,
  error text
) strict;
create index runs_session on runs (session_id);
create index runs_running on runs (started_at) where status = 'running';

create table interactions (
  id text primary key,
  kind text not null,
  session_id text not null references sessions (id) on delete cascade,
  run_id text not null,
  state text not null,
  created integer not null,
  settled_at integer,
  request text not null,
  response text
) strict;
create index interactions_session on interactions (session_id);
create index interactions_pending on interactions (created, id) where state = 'pending';

create table approvals (
  tenant_id text not null,
  project_id text not null,
  rules text not null,
  primary key (tenant_id, project_id)
) strict;

create table todos (
  session_id text primary key references sessions (id) on delete cascade,
  json text not null
) strict;

create table executions (
  root_session_id text primary key references sessions (id) on delete cascade,
  finished integer not null,
  json text not null
) strict;
create index executions_unfinished on executions (root_session_id) where finished = 0;

create table events (
  sequence integer primary key,
  session_id text,
  type text not null,
  created integer not null,
  ordinal integer not null,
  total integer not null,
  json text not null
) strict;
create index events_session on events (session_id, sequence) where session_id is not null;

create table audit (
  key integer primary key,
  id text not null unique,
  tenant_id text not null,
  subject text not null,
  created integer not null,
  json text not null
) strict;
create index audit_tenant on audit (tenant_id, key);

create table artifacts (
  id text primary key,
  tenant_id text not null,
  session_id text,
  created integer not null,
  json text not null
) strict;
create index artifacts_newest on artifacts (tenant_id, created desc, id desc);
create index artifacts_session on artifacts (tenant_id, session_id, created desc, id desc) where session_id is not null;
`
