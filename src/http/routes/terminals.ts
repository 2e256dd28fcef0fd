/** Terminals, served by the plugin `dev.svc.pty` (http-contract §5.11). */
import type { FastifyInstance } from 'fastify'
import type { Runtime } from '../../ports/facades.js'
import { ptyRoutes } from '../../protocol/terminal/pty.js'
import type { Binder } from '../bind.js'
import { bindServed } from '../contributed/served.js'
import { type ServedSocketParts, bindServedSocket } from '../contributed/served-socket.js'

const { connect, ...others } = ptyRoutes

export function terminalRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, Object.values(others))
}

/** `scope` is a Fastify instance that knows sockets. */
export function terminalSocket(scope: FastifyInstance, parts: ServedSocketParts): void {
  bindServedSocket(scope, parts, connect)
}
