/**
 * Programs behind terminals, each in a session of its own (threat-model §4.12, C3, C5, C7).
 *
 * I1 No program runs before the reaper knows its group: it starts behind a gate that only this server opens.
 * I2 The session, and what left it, is gone when `ended` settles; it is listed with the reaper for at least as long.
 * I3 No other program gets hold of a terminal: a binding whose descriptors would be inherited is not used.
 */
import { SvcError } from '../../../protocol/errors.js'
import type { Terminals } from '../../../ports/effects.js'
import { GATE, resolveCommand } from '../process/start-gate.js'
import { createFamilies, type Families } from '../process/program-families.js'
import { isInheritable } from '../process/descriptors.js'
import { type PtyBinding, loadPtyBinding } from './pty-binding.js'
import type { Reaper } from '../process/reaper.js'
import { createSessions } from '../process/session-signals.js'
import { type LiveTerminal, superviseTerminal } from './terminal.js'

export interface TerminalsOptions {
  readonly families?: Families
  readonly load?: () => Promise<PtyBinding>
}

/** `searchPath` finds programs for environments without `PATH`. */
export function createNodeTerminals(
  searchPath: string,
  reaper: Reaper,
  { families = createFamilies(reaper.mark), load = loadPtyBinding }: TerminalsOptions = {},
): Terminals {
  const live = new Set<LiveTerminal>()
  let loading: Promise<PtyBinding> | undefined
  const sessions = createSessions()
  const binding = () => (loading ??= load())

  return {
    async unavailable() {
      try {
        await binding()
        return undefined
      } catch (error) {
        return reasonOf(error)
      }
    },
    async open(options) {
      const pty = await binding().catch((cause: unknown) => {
        throw new SvcError('feature.not_implemented', `There are no terminals on this server: ${reasonOf(cause)}`, {}, { cause })
      })
      const command = resolveCommand(options, searchPath)
      const terminal = superviseTerminal(
        { pty, sessions, families },
        ['/bin/sh', '-c', GATE, 'svc-gate', command, ...options.args],
        options,
      )
      live.add(terminal)
      void terminal.ended.then(() => {
        live.delete(terminal)
        reaper.release(terminal.pid) // I2
      })
      try {
        if (isInheritable(String(terminal.fd))) throw leaking() // I3
        await reaper.adopt(terminal.pid) // I1
      } catch (error) {
        terminal.kill()
        await terminal.ended
        throw error
      }
      terminal.openGate()
      return terminal
    },
    get alive() {
      return live.size
    },
    async killAll() {
      const terminals = [...live]
      for (const terminal of terminals) terminal.kill()
      await Promise.all(terminals.map(async ({ ended }) => ended))
    },
  }
}

function leaking(): SvcError {
  return new SvcError(
    'feature.not_implemented',
    'There are no terminals on this server: other programs would inherit them. Compile the binding again with "npm run postinstall".',
  )
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
}
