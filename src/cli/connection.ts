/** Where commands find their server: at an address, or inside this process. Both are driven by `svc/client`. */
import { randomBytes } from 'node:crypto'
import { createClient } from '../client/client.js'
import type { Client } from '../client/client-types.js'
import { explainLock } from './presence.js'

export interface Connection {
  readonly client: Client
  /** Origin, such as `http://127.0.0.1:4096`. */
  readonly url: string
  readonly hasToken: boolean
  /** The server is inside this process. */
  readonly isOwn: boolean
  /** Stops the embedded server, if there is one. */
  close(): Promise<void>
}

/** The token of running servers; read before the environment is scrubbed. */
const TOKEN = process.env['SVC_AGENT_TOKEN']

/** A connection to the server at `url`, or to one of our own on a free loopback port that only we hold the token of. */
export async function connect(url: string | undefined): Promise<Connection> {
  return url === undefined ? startOwn() : connectTo(url)
}

/** A connection to a running server; nothing is sent before the first call. */
export function connectTo(url: string): Connection {
  const client = createClient({ baseUrl: url, token: TOKEN })
  return { client, url, hasToken: TOKEN !== undefined, isOwn: false, close: () => Promise.resolve() }
}

async function startOwn(): Promise<Connection> {
  const [{ createNodeEffects }, { scrubEnvironment }, { startService }] = await Promise.all([
    import('../actors/node/node-effects.js'),
    import('../actors/node/environment.js'),
    import('./serve/composition.js'),
  ])
  const effects = createNodeEffects(process.env['SVC_LOG'] === undefined ? { logLevel: 'error' } : {})
  scrubEnvironment()
  const token = randomBytes(32).toString('base64url')
  const options = { hostname: '127.0.0.1', port: 0, origins: [], hosts: [], token, kind: 'run' } as const
  try {
    const { url, stop } = await startService(effects, options)
    return { client: createClient({ baseUrl: url, token }), url, hasToken: true, isOwn: true, close: async () => void (await stop()) }
  } catch (error) {
    throw explainLock(error, effects.paths.state, 'use')
  }
}
