/**
 * What a plugin says of a call that is under way: `host.tool.progress`, a request without an id, which hosts that do not know it let pass
 * (plugin-protocol §4.4).
 *
 * I1 It has an effect while its call waits, in the name of its owner, and no more often and no larger than the limits say; else it is dropped.
 */
import * as z from 'zod'
import { createRate, type Rate } from '../../../kernel/rate.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isSameOwner, type PluginFrame, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { Clock } from '../../../ports/effects.js'
import type { DroppedFrames } from './dropped-frames.js'
import { encodedBytes } from './frame-text.js'
import type { PendingCalls } from './pending-calls.js'

export const TOOL_PROGRESS = 'host.tool.progress'

const Params = z.looseObject({ id: z.int(), metadata: z.record(z.string(), z.unknown()) })

export interface ProgressReceiver {
  receive(frame: PluginFrame): void
}

interface ProgressOptions {
  readonly clock: Clock
  readonly owner: PluginOwner
  readonly calls: Pick<PendingCalls, 'progress'>
  readonly dropped: DroppedFrames
  isRetired(): boolean
}

export function createProgress({ clock, owner, calls, dropped, isRetired }: ProgressOptions): ProgressReceiver {
  const rate: Rate = createRate(clock)
  return {
    receive(frame) {
      if (isRetired()) return
      if (frame.owner === undefined || !isSameOwner(frame.owner, owner))
        return dropped.drop('foreign-frame', 'The plugin told progress in the name of another owner.')
      const params = Params.safeParse(frame.params)
      if (!params.success || encodedBytes(params.data.metadata) > LIMITS.plugins.progressBytes)
        return dropped.drop(
          'malformed-frame',
          `The plugin told progress that is none, or of more than ${LIMITS.plugins.progressBytes} bytes.`,
        )
      if (rate.count() <= LIMITS.plugins.progressPerSecond) calls.progress(params.data.id, params.data.metadata)
    },
  }
}
