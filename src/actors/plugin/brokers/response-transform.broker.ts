/** The text of an answer while it is recorded (`host.response.transform`): what is there is read, and another text put in its place. */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Store } from '../../../store/store.js'
import type { Live } from '../../events/live.js'
import { type Broker, defineBroker } from './broker.js'
import { mustMeanSession } from './own-sessions.js'

export interface ResponseBrokerDeps {
  readonly store: Pick<Store, 'sessions'>
  readonly live: Pick<Live, 'textOf' | 'replaceText'>
}

const { textBytes } = LIMITS.pluginResponses

export function responseBroker({ store, live }: ResponseBrokerDeps): Broker {
  return defineBroker('response-transform', (lease) => ({
    operations: {
      read(input) {
        const { id } = mustMeanSession(store.sessions, lease, input?.sessionId)
        const open = live.textOf(id)
        if (open === undefined) return { open: null }
        if (Buffer.byteLength(open.text) > textBytes)
          throw new SvcError('request.unprocessable', `the text has more than ${textBytes} bytes`)
        lease.count(Buffer.byteLength(open.text))
        return { open: { sessionId: id, ...open, length: open.text.length } }
      },
      replace({ sessionId, partId, length, text }) {
        const { id } = mustMeanSession(store.sessions, lease, sessionId)
        lease.count(Buffer.byteLength(text))
        return { length: live.replaceText(id, { partId, length, text }) }
      },
    },
  }))
}
