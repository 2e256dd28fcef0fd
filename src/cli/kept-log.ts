/** Where the log of a server goes: to standard error as `SVC_LOG` says, and to a file of the state directory, for `svc logs`. */
import { createLogFile, logFileOf } from '../platform/node/log-file.js'
import { isTold, type LogLevel, parseLogLevel } from '../platform/node/log.js'
import type { NodeEffectsOptions } from '../platform/node/node-effects.js'
import { nodePaths } from '../platform/node/paths.js'
import { readLogLine, shownLine } from './log-line.js'
import { isScreen, writeError, writeLogLine } from './terminal/output.js'

/** `usual`: what standard error gets without `SVC_LOG`. On a terminal it gets lines for people. */
export function keptLog(env: NodeJS.ProcessEnv, usual: LogLevel): NodeEffectsOptions {
  const chosen = env['SVC_LOG'] === undefined ? usual : parseLogLevel(env['SVC_LOG'])
  const keep = createLogFile(logFileOf(nodePaths(env).state), mebibytesOf(env['SVC_LOG_MIB']))
  return {
    logLevel: chosen === 'debug' ? 'debug' : 'info',
    logWrite(line, level) {
      keep(line)
      if (!isTold(level, chosen)) return
      const record = isScreen() ? readLogLine(line) : undefined
      if (record === undefined) writeLogLine(line)
      else writeError(`${shownLine(record)}\n`, level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim')
    },
  }
}

/** Bytes of each of its files; undefined: as many as usual. */
function mebibytesOf(value: string | undefined): number | undefined {
  const most = Number(value)
  return Number.isInteger(most) && most > 0 ? most * 1024 * 1024 : undefined
}
