/**
 * Parts are kept by one number, made of the key of their message and their position in it: they stand in the order in which they are read, and
 * what finds the parts of a message is the table itself.
 *
 * I1 The last number of a message is none of a part: what comes after it is of the next message.
 */
const POSITIONS = 20
const LAST = 2 ** POSITIONS - 1

/** The number of a part, of the key of a message and a position. */
export const partKey = (messageKey: string, position: string) => `(${messageKey} << ${POSITIONS} | ${position})`
/** Whether a row of `parts` is of the message of that key. */
export const isOfMessage = (messageKey: string) => `parts.key between ${messageKey} << ${POSITIONS} and ${partKey(messageKey, `${LAST}`)}`
const positionOf = (key: string) => `(${key} & ${LAST})`
/** The key of the message of a row of `parts`, or of one by another name. */
export const messageKeyOf = (row = 'parts') => `(${row}.key >> ${POSITIONS})`
/** The number of the next part of the message of that key. */
export const nextPartKey = (messageKey: string) =>
  `coalesce((select max(parts.key) + 1 from parts where ${isOfMessage(messageKey)}), ${partKey(messageKey, '0')})`

/** Migration 12. They go with their message by a trigger: a foreign key asks for a column, and for an index of it. */
export const PARTS_SCHEMA = `
create table parts_in_order (
  key integer primary key check (${positionOf('key')} < ${LAST}),
  id text not null unique,
  undone integer not null default 0,
  json text not null
) strict;
insert into parts_in_order (key, id, undone, json)
  select ${partKey('message_key', 'position')}, id, undone, json from parts order by message_key, position;
drop table parts;
alter table parts_in_order rename to parts;
create index parts_undone on parts (key) where undone = 1;
create trigger parts_of_messages after delete on messages begin
  delete from parts where ${isOfMessage('old.key')};
end;`
