/** Frames between svc and plugins, in words and numbered. */
import { isRecord } from '../../../protocol/text/json.js'
import type { WatchFrame } from '../played-plugin.js'
import type { PluginMoment } from './simulate-types.js'

type Frame = PluginMoment['frame']

export interface Moments {
  readonly moments: readonly PluginMoment[]
  /** Counts from now on. */
  begin(): void
  /** For a program of a plugin that starts now. `isHeard`: false when the life that started it has died. */
  watch(plugin: string, isHeard: () => boolean): WatchFrame
}

/** `reached` is told each moment, and may end the life in it. */
export function createMoments(reached: (moment: PluginMoment) => void): Moments {
  const moments: PluginMoment[] = []
  let isCounting = false
  return {
    moments,
    begin() {
      isCounting = true
    },
    watch(plugin, isHeard) {
      const asked = new Map<string, string>()
      return (from, frame) => {
        if (!isHeard()) return false
        if (!isCounting) return true
        const moment = { number: moments.length + 1, plugin, from, says: wordsOf(from, frame, asked), frame }
        moments.push(moment)
        reached(moment)
        return isHeard()
      }
    },
  }
}

function wordsOf(from: PluginMoment['from'], frame: Frame, asked: Map<string, string>): string {
  const { method } = frame
  const id = typeof frame['id'] === 'number' || typeof frame['id'] === 'string' ? frame['id'] : undefined
  const other = from === 'svc' ? 'plugin' : 'svc'
  if (typeof method !== 'string') return `${from} answers ${asked.get(`${other} ${id ?? ''}`) ?? 'a call'}`
  const name = nameOf(method, frame['params'])
  if (id !== undefined) asked.set(`${from} ${id}`, name)
  return `${from} ${id === undefined ? 'tells' : 'asks'} ${name}`
}

/** What was called: `tool.invoke book`. */
function nameOf(method: string, params: unknown): string {
  const of = isRecord(params) ? params : {}
  const named = ['tool', 'hook', 'routeId', 'serviceId', 'type'].map((key) => of[key]).find((each) => typeof each === 'string')
  return named === undefined ? method : `${method} ${named}`
}
