/** The inspector: its operations, and the page that shows them (decision 026). */
import type { FastifyReply } from 'fastify'
import type { Runtime } from '../../ports/facades.js'
import { SvcError } from '../../protocol/errors.js'
import { inspectorRoutes as contracts, inspectorPage as files } from '../../protocol/system/inspector.js'
import type { Binder } from '../bind.js'

/** The page, its script and its style, as they are sent. */
export interface InspectorPage {
  readonly html: string
  readonly script: string
  readonly style: string
}

/** Nothing but the two files and this server: no other host, no inline script, no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function inspectorRoutes(bind: Binder, { inspector }: Runtime, page: (() => Promise<InspectorPage>) | undefined): void {
  bind.json(contracts.tree, () => inspector.tree())
  bind.json(contracts.machines, () => inspector.machines())
  bind.json(contracts.lines, ({ query }) => inspector.lines(query.plugin ?? ''))
  bind.json(contracts.trace, () => inspector.trace())
  bind.events(contracts.events, ({ query }, sink) => inspector.subscribe(query.since, sink))

  for (const name of ['html', 'script', 'style'] as const) {
    bind.raw(files[name], async (_call, _request, reply) => {
      if (page === undefined) throw new SvcError('resource.not_found', 'This server has no inspector page.')
      send(reply, files[name].success.mediaType, (await page())[name])
    })
  }
}

function send(reply: FastifyReply, type: string, text: string): void {
  reply
    .code(200)
    .headers({
      'content-type': type,
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    .send(text)
}
