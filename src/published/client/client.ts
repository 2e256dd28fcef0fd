/** `svc/client`: the API for programs and pages. Needs `fetch` and nothing else, in Node and in browsers. */
import { createIds } from '../../protocol/ids.js'
import type { Client, ClientOptions, EventOptions, PromptEnd, PromptRun } from './client-types.js'
import { followEvents } from './events.js'
import { attendSession } from './attend.js'
import { checkAttend, checkClientOptions, checkEventOptions, checkPrompt } from './misuse.js'
import { createOperations } from './operations.js'
import { PLATFORM, type Platform } from './platform.js'
import { followPrompt } from './prompt.js'
import { createTransport } from './transport.js'

export { SvcClientError } from './error.js'

/** A client of one server; nothing is sent before the first call. Throws a `TypeError` for options that cannot be meant. */
export function createClient(options: ClientOptions): Client {
  return createClientOn(PLATFORM, options)
}

/** As `createClient`, on a machine of the caller's. */
export function createClientOn(platform: Platform, options: ClientOptions): Client {
  checkClientOptions(options)
  const transport = createTransport(options, platform)
  const ids = createIds(platform)
  const operations = createOperations({ transport, platform, directory: options.directory })
  const context = { operations, transport, platform }
  const follow = (given: EventOptions = {}) => {
    checkEventOptions(given)
    return followEvents(context, given)
  }
  const events: Client['events'] = Object.assign(follow, operations.events)

  return {
    ...operations,
    events,
    async attend(sessionId, given) {
      checkAttend(sessionId, given)
      return attendSession(context, sessionId, given)
    },
    prompt(sessionId, given, promptOptions = {}): PromptRun {
      checkPrompt(sessionId, given, promptOptions)
      const request = typeof given === 'string' ? { prompt: given } : given
      const messageId = request.messageId ?? ids.next('msg')
      const known = request.messageId !== undefined
      const run = followPrompt(context, { sessionId, messageId, request, known }, promptOptions)
      let isRead = false
      const once = () => {
        if (isRead) throw new TypeError('prompt: this run is read already; iterate it once, or ask for its result')
        isRead = true
        return run
      }
      return {
        messageId,
        [Symbol.asyncIterator]: once,
        async result(): Promise<PromptEnd> {
          for await (const event of once()) if (event.type === 'end') return event
          throw new Error('The run ended without its end.')
        },
      }
    },
  } satisfies Client
}
