/** Takes the place of `src/http/contributed/served-socket.ts` in the build with mutants. */
import type { FastifyInstance } from 'fastify'
import { bindServedSocket as bindSoundSocket, type ServedSocketParts } from '../../../src/http/contributed/served-socket.js'
import type { RouteContract } from '../../../src/protocol/route.js'
import { handleMutated } from './mutant.js'

export type { ServedSocketParts } from '../../../src/http/contributed/served-socket.js'

export function bindServedSocket(scope: FastifyInstance, parts: ServedSocketParts, contract: RouteContract): void {
  const of: ServedSocketParts['tickets']['of'] = (request) => {
    const open = parts.tickets.of(request)
    return (call) => {
      const handle = () => open(call)
      return handleMutated(contract.id, handle, handle)
    }
  }
  bindSoundSocket(scope, { ...parts, tickets: { ...parts.tickets, of } }, contract)
}
