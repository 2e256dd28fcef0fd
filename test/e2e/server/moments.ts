/** Moments of the real clock, for what the built program does by it. */
import type { AnyEvent, Stream } from './stream.js'

/** The next whole second that is at least `ms` away. */
const soon = (ms: number): number => Math.ceil((Date.now() + ms) / 1000) * 1000

/** As workflow files say it. */
export const momentText = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

/**
 * Saves an active workflow that is due soon, and again with a later moment until the server has read it before that moment, however busy
 * the machine is. Answers the moment, and the event that told of it.
 */
export async function saveBeforeDue(
  stream: Stream,
  save: (at: number) => unknown,
): Promise<{ readonly at: number; readonly event: AnyEvent }> {
  for (let ms = 500; ; ms *= 2) {
    const at = soon(ms)
    const from = stream.events.length
    await save(at)
    const event = await stream.waitFor((each) => seenAt(each, at) !== undefined, from)
    if ((seenAt(event, at) ?? at) < at) return { at, event }
  }
}

/** When the server has read the active workflow that is due then; undefined for every other event. */
function seenAt(event: AnyEvent, due: number): number | undefined {
  if (event.type !== 'workflow.updated' || event.data.workflow?.active !== true) return undefined
  const { definition, updated } = event.data.workflow
  return definition.schedule.at === momentText(due) ? updated : undefined
}
