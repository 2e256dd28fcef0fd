/** Where `svc run` and `svc doctor` find their server: at an address, or inside this process. Both are driven by the same client. */
import { randomBytes } from 'node:crypto'
import { type Client, createClient } from './client.js'
import { explainLock } from './presence.js'

export interface Connection {
  readonly client: Client
  /** The server is inside this process. */
  readonly isOwn: boolean
  /** Stops the embedded server, if there is one. */
  close(): Promise<void>
}

/** The token of running servers; read before the environment is scrubbed. */
const TOKEN = process.env['SVC_AGENT_TOKEN']

/** A connection to the server at `url`, or to one of our own on a free loopback port that only we hold the token of. */
export async function connect(url: string | undefined): Promise<Connection> {
  if (url !== undefined) return { client: createClient({ url, token: TOKEN }), isOwn: false, close: () => Promise.resolve() }
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
    const service = await startService(effects, options)
    return { client: createClient({ url: service.url, token }), isOwn: true, close: async () => void (await service.stop()) }
  } catch (error) {
    throw explainLock(error, effects.paths.state, 'use')
  }
}
