import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../src/store/disk/driver.js'
import { openStore } from '../../src/store/open.js'
import { MIGRATIONS, migrate } from '../../src/store/opening/migrations.js'
import { assistant, text } from './records.js'

const MESSAGES = `
  insert into sessions (id, tenant_id, directory, archived, updated, search_key, summary, json) values ('ses_1', 'local', '/', 0, 1, '', '{}', '{}');
  insert into messages (key, id, session_id, position, open, info) values
    (1, 'msg_1', 'ses_1', 0, 0, '${JSON.stringify(assistant('msg_1', 2))}'), (2, 'msg_2', 'ses_1', 1, 0, '${JSON.stringify(assistant('msg_2', 2))}');`

/** Looks at a store whose database was made before, with two messages. */
function brought(before: (database: InstanceType<typeof Database>) => void, look: (store: ReturnType<typeof openStore>) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'svc-parts-'))
  const database = new Database(join(directory, 'agent.sqlite3'))
  const upTo = MIGRATIONS.findIndex(({ name }) => name === 'parts in the order of their messages')
  migrate(database, 1, MIGRATIONS.slice(0, upTo))
  database.exec(MESSAGES)
  before(database)
  database.close()
  const store = openStore({ directory, now: () => 2 })
  try {
    look(store)
  } finally {
    store.close()
    rmSync(directory, { recursive: true })
  }
}

const part = (id: string, message: string) => `('${id}', ${message.slice(-1)}, %, '${JSON.stringify(text(id, message))}', 0)`
const at = (row: string, position: number) => row.replace('%', String(position))

it('parts of before keep their messages and their order, and new ones follow', () => {
  brought(
    (database) => {
      database.exec(`
        insert into parts (id, message_key, position, json, undone) values
          ${at(part('prt_d', 'msg_2'), 7)}, ${at(part('prt_a', 'msg_1'), 2)}, ${at(part('prt_c', 'msg_2'), 3)}, ${at(part('prt_b', 'msg_1'), 0)}`)
      database.exec(`update parts set undone = 1 where id = 'prt_d'`)
    },
    (store) => {
      const ids = (id: string) => store.messages.get(id)?.parts.map((each) => each.id)
      expect([ids('msg_1'), ids('msg_2'), store.messages.recall('msg_2')?.parts.length]).toEqual([['prt_b', 'prt_a'], ['prt_c'], 2])
      store.transact('process', () => {
        store.messages.putPart(text('prt_e', 'msg_1'))
        store.messages.putPart(text('prt_b', 'msg_1', 'changed'))
        store.messages.discard('ses_1')
      })
      expect([ids('msg_1'), store.messages.get('msg_1')?.parts[0], store.messages.recall('msg_2')?.parts.length]).toMatchObject([
        ['prt_b', 'prt_a', 'prt_e'],
        { text: 'changed' },
        1,
      ])
      store.transact('process', () => store.messages.remove('msg_1'))
      expect([store.messages.getPart('prt_a'), store.messages.getPart('prt_c')?.id]).toEqual([undefined, 'prt_c'])
    },
  )
})

it('a message that has as many parts as it can takes none of the next message', () => {
  const last = 2 ** 20 - 2
  brought(
    (database) => {
      database.exec(`
        insert into parts (id, message_key, position, json, undone) values ${at(part('prt_a', 'msg_1'), last)}`)
    },
    (store) => {
      const put = () => store.transact('process', () => store.messages.putPart(text('prt_b', 'msg_1')))
      expect(put).toThrow('CHECK constraint failed')
      expect(store.messages.get('msg_2')?.parts).toEqual([])
      expect(store.messages.get('msg_1')?.parts).toMatchObject([{ id: 'prt_a' }])
    },
  )
})
