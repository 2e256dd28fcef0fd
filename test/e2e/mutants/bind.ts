/** Takes the place of `src/http/bind.ts` in the build with mutants. */
import type { FastifyInstance } from 'fastify'
import { type Binder, type BinderParts, createBinder as createSoundBinder } from '../../../src/http/bind.js'
import { handleMutated } from './mutant.js'

export * from '../../../src/http/bind.js'

export function createBinder(app: FastifyInstance, parts: BinderParts): Binder {
  const sound = createSoundBinder(app, parts)
  return {
    json: (contract, handle) =>
      sound.json(contract, (call) =>
        handleMutated<ReturnType<typeof handle>>(
          contract.id,
          () => handle(call),
          () => ({ rawJson: 'null' }),
        ),
      ),
    events: (contract, subscribe) =>
      sound.events(contract, (call, sink) =>
        handleMutated(
          contract.id,
          () => subscribe(call, sink),
          () => {
            setImmediate(() => sink.end())
            return { close: () => undefined }
          },
        ),
      ),
    raw: (contract, handle) =>
      sound.raw(contract, (call, request, reply) =>
        handleMutated(
          contract.id,
          () => handle(call, request, reply),
          async () => void reply.code(contract.success.status).send(''),
        ),
      ),
  }
}
