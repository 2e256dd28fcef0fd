/** How long a script may take, where the command line says less than the limits. */
import { LIMITS } from '../../protocol/limits.js'

/** How long a callback may last, and wait for an answer of its host, ms. */
export interface Times {
  readonly callback: number
  readonly hostCall: number
}

/** Those of the limits, or shorter ones from `--callback-ms <n>` and `--host-call-ms <n>` anywhere: tests wait for their ends. */
export function readTimes(args: readonly string[]): Times {
  const { callback, hostCall } = LIMITS.lua
  const shorter = (option: string, most: number) => {
    const at = args.indexOf(option)
    const ms = at === -1 ? most : Number(args[at + 1])
    return ms > 0 && ms < most ? ms : most
  }
  return { callback: shorter('--callback-ms', callback), hostCall: shorter('--host-call-ms', hostCall) }
}
