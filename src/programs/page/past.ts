/** Says on every page that the past is looked at: which moment, what of the page is of that moment, and the way back. */
import { byId, clock, say } from './elements.js'
import { markNow } from './marks.js'
import type { Model } from './model.js'
import type { Showing, Tab } from './showing.js'

/** Records wait that are not applied, or were taken back. */
function isPast({ isPaused, position, records }: Model): boolean {
  return isPaused && position < records.length
}

const OF_THE_MOMENT: Readonly<Record<Tab, string>> = {
  actors: 'tree, chart and log are as they were',
  plugins: 'the chart is as it was, all else here is as it is now',
  workflows: 'what stands here is as it is now',
  sessions: 'what stands here is as it is now',
  programs: 'what stands here is as it is now',
  requests: 'what stands here is as it is now',
}

/** `isTrace`: there is no present, only an end. */
export function renderPast({ shown }: Showing, model: Model, isTrace: boolean): void {
  const { position, records } = model
  const past = isPast(model)
  const [line, status] = [byId('past'), byId('status')]
  document.body.classList.toggle('past', past)
  line.hidden = !past
  if (status.className === 'live') say(status, past ? 'connected' : 'live')
  if (!past) return
  const [what, why, back] = [...line.children]
  const at = records[position - 1]?.at ?? records[0]?.at
  const mark = markNow(model)
  if (what !== undefined) what.textContent = isTrace ? 'A moment of the trace' : 'The past'
  if (why !== undefined)
    why.textContent = `${at === undefined ? '' : `${clock(at)}, `}record ${position} of ${records.length}${mark === undefined ? '' : `, ${mark}`}: ${isTrace && shown === 'plugins' ? 'the chart is as it was, all else here is of its end' : OF_THE_MOMENT[shown]}`
  if (back !== undefined) back.textContent = isTrace ? 'To the end' : 'Back to the present'
}
