/** Sockets of one machine on this side: a port on loopback for `agent.sock`, and `host.sock` for the controllers. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, type NetConnectOpts, type Server } from 'node:net'
import { join } from 'node:path'
import { forward } from '../inside/forward.js'

export interface Front {
  readonly port: number
  close(): void
}

/** `port`: the one it had before, when there was one; another is taken when somebody else has it now. `hosts`: of whom the first that takes a connection answers. */
export async function openFront(run: string, port: number, hosts: readonly NetConnectOpts[]): Promise<Front> {
  const target = [() => socketAt(join(run, 'agent.sock'))]
  const agent = await forward({ host: '127.0.0.1', port }, target).catch(() => forward({ host: '127.0.0.1', port: 0 }, target))
  const hostSocket = join(run, 'host.sock')
  await rm(hostSocket, { force: true })
  const host = await forward({ path: hostSocket }, hosts)
  const servers: readonly Server[] = [agent, host]
  return {
    port: (agent.address() as AddressInfo).port,
    close() {
      for (const server of servers) server.close()
    },
  }
}

/** Of Linux; Node has no name for it. */
const O_PATH = 0o10_000_000

/**
 * The socket of this name, held by the kernel: who is in the machine may put a link under the name, to a socket of this machine that nobody
 * in there may speak to. Undefined for what is no socket.
 */
function socketAt(path: string): { readonly path: string; release(): void } | undefined {
  try {
    const held = openSync(path, O_PATH | constants.O_NOFOLLOW)
    const release = () => closeSync(held)
    if (fstatSync(held).isSocket()) return { path: `/proc/self/fd/${held}`, release }
    release()
  } catch {
    // It is not there yet.
  }
  return undefined
}

/** Whether a worker answers there: it asks for a credential. */
export function isAnswering(baseUrl: string, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(new URL('v2/runtime', baseUrl), { agent: false, timeout: ms }, (response) => {
      response.resume()
      resolve(response.statusCode === 401)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end()
  })
}
