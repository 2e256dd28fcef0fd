/** Takes the place of `src/http/routes/served-socket.ts` in the build with mutants. */
import type { FastifyInstance } from 'fastify'
import { bindServedSocket as bindSoundSocket, type ServedSocketParts } from '../../../src/http/routes/served-socket.js'
import type { RouteContract } from '../../../src/protocol/route.js'
import { handleMutated } from './mutant.js'

export type { ServedSocketParts } from '../../../src/http/routes/served-socket.js'

export function bindServedSocket(scope: FastifyInstance, parts: ServedSocketParts, contract: RouteContract): void {
  const connect: ServedSocketParts['plugins']['connect'] = (id, call) => {
    const handle = () => parts.plugins.connect(id, call)
    return handleMutated(id, handle, handle)
  }
  bindSoundSocket(scope, { ...parts, plugins: { ...parts.plugins, connect } }, contract)
}
