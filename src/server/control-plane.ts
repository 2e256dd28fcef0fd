/**
 * A server that many share and that runs nothing for anybody (subsystems d.9; service.md, Authentication 8).
 *
 * I1 No program can be started, whoever would: what starts them is not there.
 * I2 The plugins that would start some, prompt, or call models by themselves are not there, and told as that.
 */
import type { Deployment } from '../actors/runtime/deployment.js'
import type { Effects } from '../ports/effects.js'
import type { NativePlugin } from '../ports/plugin.js'
import { NOT_EXECUTED } from '../http/admission/execution.js'
import { SvcError } from '../protocol/errors.js'

/** I2 */
const ABSENT = new Set('shell pty vcs lsp mcp external goals web workflows'.split(' ').map((word) => `dev.svc.${word}`))

export function controlPlane(plugins: readonly NativePlugin[]): {
  readonly deployment: Deployment
  readonly plugins: readonly NativePlugin[]
} {
  const absent = plugins.filter(({ id }) => ABSENT.has(id)).flatMap(({ capability }) => (capability === undefined ? [] : [capability]))
  return { deployment: { name: 'shared-control-plane', executes: false, absent }, plugins: plugins.filter(({ id }) => !ABSENT.has(id)) }
}

/** I1 */
export function withoutPrograms(effects: Effects): Effects {
  const { processes, terminals } = effects
  const refuse = () => Promise.reject(new SvcError('feature.not_implemented', NOT_EXECUTED))
  return {
    ...effects,
    processes: {
      open: refuse,
      run: refuse,
      hasStarted: () => false,
      holdsConnection: () => Promise.resolve(false),
      find: (program) => processes.find(program),
      alive: 0,
      killAll: () => processes.killAll(),
    },
    terminals: {
      unavailable: () => Promise.resolve('this server is a shared control plane'),
      open: refuse,
      alive: 0,
      killAll: () => terminals.killAll(),
    },
  }
}
