/** `svc completion values`: what a shell may complete, a line each, with a tab before what it is. Nothing where no server runs. */
import type { Client } from '../published/client/client-types.js'
import { printable } from '../protocol/text/visible-text.js'
import { connectToRunning } from './connection.js'
import { writeOut } from './terminal/output.js'
import { shortTitle } from './commands/session/session-record.js'
import type { Value } from './line/page.js'

type Row = readonly [value: string, does: string]

const SESSIONS = 50
const LONGEST = 60

/** Prints them; answers 0 whatever happens: a shell shows nothing else. */
export async function printValues(of: Value): Promise<number> {
  const connection = await connectToRunning().catch(() => undefined)
  if (connection === undefined) return 0
  try {
    const rows = await rowsOf(connection.client, of, process.cwd())
    writeOut(rows.map(([value, does]) => `${printable(value)}\t${printable(does.split('\n', 1)[0] ?? '').slice(0, LONGEST)}\n`).join(''))
  } catch {
    // What the server does not tell is not offered.
  } finally {
    await connection.close()
  }
  return 0
}

async function rowsOf(client: Client, of: Value, directory: string): Promise<readonly Row[]> {
  const named = (all: readonly { readonly name: string; readonly description?: string | null | undefined }[]) =>
    all.map(({ name, description }): Row => [name, description ?? ''])
  switch (of) {
    case 'model':
    case 'provider': {
      const { providers } = await client.providers.configured({ directory })
      if (of === 'provider') return providers.map(({ id, name }) => [id, name])
      return providers.flatMap(({ id, models }) => Object.values(models).map((model): Row => [`${id}/${model.id}`, model.name]))
    }
    case 'agent':
      return named(await client.agents.list({ directory }))
    case 'command':
      return named(await client.commands.list({ directory }))
    case 'skill':
      return named(await client.skills.list({ directory }))
    case 'tool':
      return (await client.tools.list({ directory })).map(({ id, description }) => [id, description])
    case 'plugin':
      return (await client.plugins.lifecycle({ directory })).map(({ packageId, state }) => [packageId, state])
    case 'session': {
      const { items } = await client.sessions.list({ directory, limit: SESSIONS })
      return items.map(({ id, title }) => [id, shortTitle(title)])
    }
  }
}
