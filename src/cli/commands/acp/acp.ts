/** `svc acp`: the agent of an editor, over standard input and output. */
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { Readable, Writable } from 'node:stream'
import { connect, type Connection, connectTo } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { writeError } from '../../terminal/output.js'
import type { AcpOptions } from './acp-page.js'
import { createBridge } from './bridge.js'

/** For a server that may be there, ms. */
const PATIENCE = 5000

async function usual({ usual: url }: AcpOptions): Promise<Connection | undefined> {
  if (url === undefined) return undefined
  const connection = connectTo(url)
  const health = await connection.client.health({ signal: AbortSignal.timeout(PATIENCE) }).catch(() => undefined)
  return health?.healthy === true ? connection : undefined
}

/** Serves until the editor closes its side; answers 0. */
export async function acp(options: AcpOptions): Promise<number> {
  const connection = (await usual(options)) ?? (await connect(options.server))
  try {
    const directory = directoryOn(options.server, options.directory)
    const bridge = createBridge({ client: connection.client, directory, note: (text) => writeError(`svc acp: ${text}\n`) })
    // Node types a web stream of its own; it is one of bytes.
    const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
    const stream = ndJsonStream(Writable.toWeb(process.stdout), input)
    await bridge.connect(stream).closed
    return 0
  } finally {
    await connection.close()
  }
}
