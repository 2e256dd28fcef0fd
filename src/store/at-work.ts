/**
 * What a start has to end: running runs, open messages, unfinished executions. One small tree names them all, so that a turn writes one page for
 * them where an index of each writes three.
 *
 * I1 A run is here as long as it runs, and nowhere else: its row is stored where it stays when it has ended, and leaves this tree with that.
 * I2 Of messages and executions it says what their tables say, in the same transaction: nothing but their triggers writes it.
 */
type Kind = 'message' | 'execution'

interface Told {
  readonly table: string
  readonly id: string
  readonly sessionId: string
  /** The column that says it, and how it does. */
  readonly column: string
  readonly value: 0 | 1
}

const TOLD: Readonly<Record<Kind, Told>> = {
  message: { table: 'messages', id: 'id', sessionId: 'session_id', column: 'open', value: 1 },
  execution: { table: 'executions', id: 'root_session_id', sessionId: 'root_session_id', column: 'finished', value: 0 },
}

/** I2 */
function followed(kind: Kind): string {
  const { table, id, sessionId, column, value } = TOLD[kind]
  const isOpen = (row: 'old' | 'new') => `${row}.${column} = ${value}`
  const add = `insert into at_work (session_id, kind, id) values (new.${sessionId}, '${kind}', new.${id});`
  const remove = `delete from at_work where session_id = old.${sessionId} and kind = '${kind}' and id = old.${id};`
  return `
insert into at_work (session_id, kind, id) select ${sessionId}, '${kind}', ${id} from ${table} where ${column} = ${value};
create trigger ${table}_begun after insert on ${table} when ${isOpen('new')} begin ${add} end;
create trigger ${table}_resumed after update of ${column} on ${table} when ${isOpen('new')} and not ${isOpen('old')} begin ${add} end;
create trigger ${table}_ended after update of ${column} on ${table} when ${isOpen('old')} and not ${isOpen('new')} begin ${remove} end;
create trigger ${table}_removed after delete on ${table} when ${isOpen('old')} begin ${remove} end;`
}

/** Migration 11. The runs of a session stand beside each other then, in the order in which they have started: what finds one is the table itself. */
export const AT_WORK_SCHEMA = `
create table at_work (
  session_id text not null references sessions (id) on delete cascade,
  kind text not null,
  id text not null,
  started_at integer,
  unattended integer,
  primary key (session_id, kind, id)
) strict, without rowid;
${followed('message')}
drop index messages_open;
${followed('execution')}
drop index executions_unfinished;

insert into at_work select session_id, 'run', id, started_at, unattended from runs where status = 'running';
create table runs_ended (
  session_id text not null references sessions (id) on delete cascade,
  started_at integer not null,
  id text not null,
  status text not null,
  unattended integer not null,
  finished_at integer,
  error text,
  primary key (session_id, started_at, id)
) strict, without rowid;
insert into runs_ended
  select session_id, started_at, id, status, unattended, finished_at, error from runs where status <> 'running'
  order by session_id, started_at, id;
drop table runs;
alter table runs_ended rename to runs;
create trigger runs_ended after insert on runs begin
  delete from at_work where session_id = new.session_id and kind = 'run' and id = new.id;
end;`
