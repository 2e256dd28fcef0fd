/** Servers of the Model Context Protocol, served by the plugin `dev.svc.mcp` (http-contract §5.10). */
import * as z from 'zod'
import type { Runtime } from '../../ports/facades.js'
import { mcpAuthRoutes } from '../../protocol/mcp/mcp-auth.js'
import { mcpRoutes } from '../../protocol/mcp/mcp.js'
import type { Binder } from '../bind.js'
import { PLAIN_PAGE } from '../pages.js'
import { bindServed } from '../contributed/served.js'

const { callbackPage, ...signingIn } = mcpAuthRoutes
const Page = z.object({ status: z.number(), html: z.string() })

export function mcpRoutesOf(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, [...Object.values(mcpRoutes), ...Object.values(signingIn)])
  bind.raw(callbackPage, async (call, _request, reply) => {
    const { status, html } = Page.parse(await plugins.call(callbackPage.id, call))
    reply.code(status).headers(PLAIN_PAGE).send(html)
  })
}
