/** `svc/client`: the API for programs and pages. Needs `fetch` and nothing else, in Node and in browsers. */
import { createIds } from '../protocol/ids.js'
import type { Client, ClientOptions, PromptEnd, PromptRun } from './client-types.js'
import { followEvents } from './events.js'
import { createOperations } from './operations.js'
import { PLATFORM, type Platform } from './platform.js'
import { followPrompt } from './prompt.js'
import { createTransport } from './transport.js'

export { SvcClientError } from './error.js'

/** A client of one server; nothing is sent before the first call. */
export function createClient(options: ClientOptions): Client {
  return createClientOn(PLATFORM, options)
}

/** As `createClient`, on a machine of the caller's. */
export function createClientOn(platform: Platform, options: ClientOptions): Client {
  const transport = createTransport(options, platform)
  const ids = createIds(platform)
  const operations = createOperations({ transport, platform, directory: options.directory })
  const context = { operations, transport, platform }
  const events: Client['events'] = Object.assign((given = {}) => followEvents(context, given), operations.events)

  return {
    ...operations,
    events,
    prompt(sessionId, given, promptOptions = {}): PromptRun {
      const request = typeof given === 'string' ? { prompt: given } : given
      const messageId = request.messageId ?? ids.next('msg')
      const known = request.messageId !== undefined
      const run = followPrompt(context, { sessionId, messageId, request, known }, promptOptions)
      return {
        messageId,
        [Symbol.asyncIterator]: () => run,
        async result(): Promise<PromptEnd> {
          for await (const event of run) if (event.type === 'end') return event
          throw new Error('This run was read before.')
        },
      }
    },
  } satisfies Client
}
