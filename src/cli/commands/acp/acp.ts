/** `svc acp`: the agent of an editor, over standard input and output. */
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { connect, type Connection, connectTo } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { openProtocol, writeError } from '../../terminal/output.js'
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

/** Serves until the editor closes its side, or it is interrupted; answers 0. */
export async function acp(options: AcpOptions): Promise<number> {
  const connection = (await usual(options)) ?? (await connect(options.server))
  try {
    const directory = directoryOn(options.server, options.directory)
    const bridge = createBridge({ client: connection.client, directory, note: (text) => writeError(`svc acp: ${text}\n`) })
    const { input, output } = openProtocol()
    const link = bridge.connect(ndJsonStream(output, input))
    const interrupts = watchInterrupts(() => link.close())
    await link.closed.finally(interrupts.forget)
    return 0
  } finally {
    await connection.close()
  }
}
