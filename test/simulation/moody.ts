/** A plugin that cannot always be had. */
import * as z from 'zod'
import { defineTool, type NativePlugin } from '../../src/ports/plugin.js'
import type { FakeClock } from '../../src/simulation/clock.js'
import type { Mood } from './history.js'

const LINGERS = 60_000

export const MOODY = 'test.moody'

export function moody(mood: { readonly is: Mood }, clock: () => FakeClock): NativePlugin {
  return {
    id: MOODY,
    name: 'Moody',
    start() {
      if (mood.is === 'refuses') throw new Error('not today')
      const id = mood.is === 'rivals' ? 'answers' : 'ponders'
      return { tools: [toolOf(id)] }
    },
    async stop() {
      if (mood.is === 'lingers') await new Promise<void>((resolve) => clock().setTimeout(resolve, LINGERS))
    },
  }
}

function toolOf(id: string) {
  return defineTool({
    id,
    description: 'It ponders.',
    input: z.strictObject({}),
    permission: id,
    needs: async () => [],
    invoke: async () => ({ title: id, output: id }),
  })
}
