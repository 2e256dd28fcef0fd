/** Work of a server, of which a client remembers what it was told is done, and how long the record of its disk was then. */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import { Database } from '../../../src/store/disk/driver.js'
import type { Server } from '../../e2e/server/server.js'
import { finish, type ModelServerRequest, reply, type Reply, text, toolCall } from '../../fixtures/model-server.js'

/** Something acknowledged (threat-model §6.1), or something that was seen to happen and must have been noted before. */
export interface Acknowledged {
  readonly what: string
  /** Length of the record when the answer was there. */
  readonly at: number
  /** Length of the record when something was asked that ends it. */
  until: number
  holds(found: Found): boolean
}

/** What a disk has after a loss of power. */
export interface Found {
  readonly database: InstanceType<typeof Database>
  /** Content of a file below the state or the configuration, by its name there. */
  file(name: string): Buffer | undefined
}

/** A worker has one of its own. */
const PROVIDERS = ['anthropic', 'openai', 'google'] as const
const WORKERS = PROVIDERS.length

const has = ({ database }: Found, sql: string, ...values: (string | number)[]) => database.prepare(sql).get(...values) !== undefined

/** Each prompt runs one command, which asks first, and leaves a line in a file. */
export function turn({ body }: ModelServerRequest): Reply {
  const messages = body?.messages ?? []
  if (messages.at(-1)?.role === 'tool') return reply(text('So ', 'it ', 'is.'), finish('stop'))
  const asked = String(messages.findLast(({ role }) => role === 'user')?.['content'])
  const name = /p\d+x\d+/.exec(asked)?.[0] ?? 'nobody'
  return reply(
    text('I ', 'run ', 'it. '),
    toolCall({ id: `call_${name}`, name: 'bash', input: { command: `echo ${name}` } }),
    finish('tool_calls'),
  )
}

/** Clients at once, each with so many `rounds`. */
export async function work(server: Server, recordFile: string, rounds: number): Promise<Acknowledged[]> {
  const done: Acknowledged[] = []
  const length = () => statSync(recordFile).size
  const note = (what: string, holds: Acknowledged['holds']) => {
    const made: Acknowledged = { what, at: length(), until: Number.POSITIVE_INFINITY, holds }
    done.push(made)
    return made
  }
  const expectOf = async (status: number, ...call: Parameters<Server['call']>) => {
    const answer = await server.call(...call)
    if (answer.status !== status) throw new Error(`${call[0]} ${call[1]} was answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  let patches = 0

  async function round(worker: number, number: number): Promise<void> {
    const name = `p${worker}x${number}`
    const stream = await server.stream()
    const { id } = await server.createSession({ title: `${name} 0` })
    const ofSession = [note(`the session ${name}`, (found) => has(found, 'select 1 from sessions where id = ?', id))]

    await expectOf(200, 'PATCH', `/v2/sessions/${id}`, { title: `${name} 1` })
    ofSession.push(
      note(`the title of ${name}`, (found) => has(found, `select 1 from sessions where id = ? and json ->> 'title' = ?`, id, `${name} 1`)),
    )

    const messageId = `msg_${name}`
    await server.prompt(id, { prompt: name, messageId })
    ofSession.push(
      note(`the prompt ${name}`, (found) =>
        has(found, 'select 1 from messages where id = ? union all select 1 from queue where message_id = ?', messageId, messageId),
      ),
    )
    const asked = await stream.waitFor((event) => event.type === 'permission.asked' && event.subject?.id === id)
    const request = (asked.data as PermissionRequest).id
    await expectOf(200, 'POST', `/v2/interactions/permissions/${request}/reply`, { reply: 'once' })
    ofSession.push(
      note(`the answer to ${name}`, (found) => has(found, `select 1 from interactions where id = ? and state <> 'pending'`, request)),
    )
    await expectOf(204, 'POST', `/v2/sessions/${id}/wait`)

    const bytes = Buffer.from(`${name} `.repeat(5000))
    const artifact = (await expectOf(201, 'POST', '/v2/artifacts', bytes, {
      'content-type': 'application/octet-stream',
      'x-svc-filename': `${name}.txt`,
    })) as Artifact
    note(`the artifact ${name}`, (found) => {
      if (!has(found, 'select 1 from artifacts where id = ?', artifact.id)) return false
      const content = found.file(`artifacts/local/${artifact.id}`)
      return content !== undefined && createHash('sha256').update(content).digest('hex') === artifact.sha256
    })

    await expectOf(200, 'PUT', `/v2/providers/${PROVIDERS[worker]}/auth`, { type: 'api', key: `key-${worker}-${number}.` })
    note(`the credential ${name}`, (found) => {
      const kept = new RegExp(`key-${worker}-(\\d+)\\.`).exec(found.file('auth.json')?.toString() ?? '')
      return Number(kept?.[1] ?? -1) >= number
    })

    const patch = ++patches
    await expectOf(200, 'PATCH', '/v2/config', { agent: { [name]: { description: `patch ${patch}`, mode: 'all' } } })
    note(`the patch ${patch}`, (found) => found.file('svc.json')?.includes(`patch ${patch}`) === true)

    if (number % 2 === 1) {
      const ends = length()
      await expectOf(200, 'DELETE', `/v2/sessions/${id}`)
      for (const each of ofSession) each.until = ends
      note(`the end of ${name}`, (found) => !has(found, 'select 1 from sessions where id = ?', id))
    }
    stream.close()
  }

  await Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      for (let number = 0; number < rounds; number++) await round(worker, number)
    }),
  )
  return done
}

/** Opens the store of a state directory as SQLite finds it; throws when it is damaged. */
export function openFound(state: string, file: Found['file']): Found & { close(): void } {
  const database = new Database(join(state, 'agent.sqlite3'))
  const verdict = database.pragma('integrity_check', { simple: true })
  if (verdict !== 'ok') throw new Error(`the store is damaged: ${String(verdict)}`)
  return { database, file, close: () => database.close() }
}
