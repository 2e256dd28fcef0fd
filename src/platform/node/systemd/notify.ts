/**
 * The service manager that started this server, as systemd has it: it is told when the server answers, that it is well, and that it ends
 * (sd_notify(3)), and it may hand over a socket that listens already (sd_listen_fds(3)). Without one nothing is done.
 *
 * I1 The server is well when its event loop turns: what is told is told from it.
 * I2 What cannot be told is no reason to stop: the manager ends by itself who does not report.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import type { Clock, Log } from '../../../ports/effects.js'
import { messageOf } from '../../../protocol/message-of.js'
import { openNotices } from './datagrams.js'

type Environment = Readonly<Record<string, string | undefined>>

export interface ServiceManager {
  /** The server answers; from now on it is told in time that it is well. */
  ready(status: string): void
  /** An orderly stop has begun, which may take so many ms. */
  stopping(ms: number): void
  /** Nothing is told any more. */
  ended(): void
}

const NOBODY: ServiceManager = { ready: () => undefined, stopping: () => undefined, ended: () => undefined }
const MICROSECONDS = 1000

/** `env` is that of the start, before it is scrubbed. */
export async function openServiceManager(
  env: Environment,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<ServiceManager> {
  const address = env['NOTIFY_SOCKET'] ?? ''
  if (address === '') return NOBODY
  try {
    const notices = await openNotices(address)
    const every = watchdogOf(env)
    const alarm = createAlarm(clock, well)

    function tell(...lines: readonly string[]): void {
      if (!notices.send(lines.join('\n'))) log.warn('the service manager could not be told', { lines })
    }
    function well(): void {
      tell('WATCHDOG=1')
      if (every !== undefined) alarm.set(every)
    }

    return {
      ready(status) {
        tell('READY=1', `STATUS=${status}`, `MAINPID=${process.pid}`)
        if (every !== undefined) alarm.set(every)
      },
      stopping(ms) {
        tell('STOPPING=1', 'STATUS=stopping', `EXTEND_TIMEOUT_USEC=${ms * MICROSECONDS}`)
      },
      ended: () => alarm.end(),
    }
  } catch (error) {
    log.warn('the service manager cannot be told anything', { address, cause: messageOf(error) })
    return NOBODY
  }
}

/** Half of the silence it takes for the end, ms; undefined where it does not watch this process. */
function watchdogOf({ WATCHDOG_USEC: silence = '', WATCHDOG_PID: pid = String(process.pid) }: Environment): number | undefined {
  const ms = Number(silence) / MICROSECONDS / 2
  return pid === String(process.pid) && Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** Descriptors of sockets begin here (sd_listen_fds(3)). */
const FIRST_SOCKET = 3

/** The socket that was handed over; undefined where there is none. More than one is refused: the server has one address. */
export function givenSocket({ LISTEN_PID: pid = '', LISTEN_FDS: count = '' }: Environment): number | undefined {
  if (pid !== String(process.pid) || count === '') return undefined
  if (count !== '1') throw new Error(`svc listens at one socket, and was given ${count}.`)
  return FIRST_SOCKET
}
