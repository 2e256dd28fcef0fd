/** One run of a hook command: one JSON line in, one JSON text out (`svc-plugin/1`, plugin-protocol §9.5). */
import * as z from 'zod'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { HOOK_COMMAND_PROTOCOL } from '../../../protocol/plugin/plugin-frame.js'
import type { Effects } from '../../../ports/effects.js'
import { readJson } from '../link/json-text.js'

export interface HookProgram {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export interface HookRequest {
  readonly hook: string
  readonly context: unknown
  readonly value: unknown
}

const Reply = z.looseObject({ protocol: z.string(), ok: z.boolean(), value: z.unknown().optional(), error: z.string().nullish() })

/** Milliseconds one run may take, clamped; anything that is no whole number counts as absent. */
export function hookTimeoutOf(value: unknown): number {
  const { legacyTimeout, legacyTimeoutMin, legacyTimeoutMax } = LIMITS.plugins
  if (typeof value !== 'number' || !Number.isInteger(value)) return legacyTimeout
  return Math.min(Math.max(value, legacyTimeoutMin), legacyTimeoutMax)
}

/**
 * Runs the program for one hook and answers `value` of its reply, null when it has none. Rejects with `plugin.failed` when
 * it cannot be started, takes too long, fails, says too much or something else, or `ok: false`; with the reason of
 * `signal` when that aborts. Nothing of it runs afterwards.
 */
export async function runHookProgram(
  { processes }: Pick<Effects, 'processes'>,
  program: HookProgram,
  request: HookRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const input = JSON.stringify({ protocol: HOOK_COMMAND_PROTOCOL, ...request })
  const excess = new AbortController()
  const pieces: string[] = []
  let bytes = 0
  const result = await processes.run({
    command: program.program,
    args: program.args,
    cwd: program.cwd,
    env: program.env,
    signal: AbortSignal.any([signal, excess.signal]),
    timeoutMs: program.timeoutMs,
    captureBytes: 0,
    stdin: `${input}\n`,
    onStdout(text) {
      bytes += Buffer.byteLength(text)
      if (bytes <= LIMITS.plugins.legacyResponse) pieces.push(text)
      else excess.abort()
    },
  })
  if (bytes > LIMITS.plugins.legacyResponse) throw failed(`it wrote more than ${LIMITS.plugins.legacyResponse} bytes`)
  signal.throwIfAborted()
  if (result.timedOut) throw failed(`it took longer than ${program.timeoutMs} ms`)
  if (result.exitCode !== 0)
    throw failed(`it ended with ${result.exitCode === null ? `signal ${result.signal}` : `exit code ${result.exitCode}`}`)
  return valueOf(pieces.join(''))
}

function valueOf(output: string): unknown {
  const read = readJson(Buffer.from(output))
  if ('problem' in read) throw failed(`its answer ${read.problem}`)
  const reply = Reply.safeParse(read.value)
  if (!reply.success) throw failed('its answer must be {"protocol", "ok", "value" or "error"}')
  const { protocol, ok, value, error } = reply.data
  if (protocol !== HOOK_COMMAND_PROTOCOL)
    throw failed(`it speaks ${JSON.stringify(protocol.slice(0, 80))} instead of "${HOOK_COMMAND_PROTOCOL}"`)
  if (!ok) throw failed(error?.slice(0, 1000) || 'it refused without a reason')
  return value ?? null
}

function failed(reason: string): SvcError {
  return new SvcError('plugin.failed', reason)
}
