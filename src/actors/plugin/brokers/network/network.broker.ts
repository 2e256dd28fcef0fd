/** `host.network.request`: requests of plugins, whole or piece by piece (plugin-protocol §4.8; threat-model N1, N2). */
import { SvcError } from '../../../../protocol/errors.js'
import { type Broker, defineBroker } from '../broker.js'
import { createByteQuota } from './byte-quota.js'
import { createExchange, type Exchange } from './exchange.js'
import { type RequestDeps, send } from './request.js'
import { wholeAnswer } from './whole-answer.js'

export function createNetworkBroker(deps: RequestDeps): Broker {
  const { clock } = deps.effects
  const quota = createByteQuota(clock)
  const broker = defineBroker('network', (lease) => {
    const counted = (bytes: number): void => {
      lease.count(bytes)
      quota.spend(lease.owner.pluginId, bytes)
    }
    const open = lease.table<Exchange>('exchange', (exchange) => exchange.close())
    return {
      operations: {
        async fetch({ body: text, bodyBase64, maxBytes, ...asked }, { signal }) {
          const body = bodyOf(text, bodyBase64)
          counted(body?.byteLength ?? 0)
          return wholeAnswer({ clock, host: hostOf(asked.url), maxBytes, signal, count: counted }, (limited) =>
            send(deps, lease, asked, { signal: limited, ...(body !== undefined && { body }) }),
          )
        },
        open({ upload, ...asked }) {
          counted(0)
          let opaqueId = ''
          const exchange = createExchange({
            clock,
            host: hostOf(asked.url),
            hasBody: upload,
            count: counted,
            send: (body, signal) => send(deps, lease, asked, { signal, ...(body !== undefined && { body }) }),
            onOver: () => void open.close(opaqueId),
          })
          opaqueId = open.add(exchange)
          return { opaqueId }
        },
        async write({ opaqueId, text, base64, end }) {
          const exchange = open.get(opaqueId)
          const piece = bodyOf(text, base64)
          if (piece !== undefined) await exchange.write(piece)
          if (end) await exchange.end()
          return {}
        },
        async read({ opaqueId }) {
          const exchange = open.get(opaqueId)
          try {
            const { answer, bytes, end } = await exchange.read()
            if (end) await open.close(opaqueId)
            return { ...(answer !== undefined && { answer }), base64: Buffer.from(bytes).toString('base64'), end }
          } catch (error) {
            await open.close(opaqueId)
            throw error
          }
        },
        close: async ({ opaqueId }) => ({ closed: await open.close(opaqueId) }),
      },
    }
  })
  return { ...broker, used: (pluginId) => [quota.of(pluginId)] }
}

function bodyOf(text: string | undefined, base64: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (text !== undefined && base64 !== undefined) throw new SvcError('request.unprocessable', 'a body is text or base64, not both')
  if (text !== undefined) return new Uint8Array(Buffer.from(text))
  return base64 === undefined ? undefined : new Uint8Array(Buffer.from(base64, 'base64'))
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'what is no address'
}
