/** Where boxes and arrows of our own charts go. `layouts.json` is written by `npm run charts`: the engine that makes it is too large to carry. */
import * as z from 'zod'
import { InspectedLayout } from '../../protocol/system/inspector.js'
import stored from './layouts.json' with { type: 'json' }

let layouts: Readonly<Record<string, InspectedLayout>> | undefined

/** The layout of a machine by its id; undefined when it is none of ours. */
export function layoutOf(id: string): InspectedLayout | undefined {
  layouts ??= z.record(z.string(), InspectedLayout).parse(stored)
  return layouts[id]
}
