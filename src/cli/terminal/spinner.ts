/** What goes on just now, in one line of its own that moves. */
import { seconds } from './tool-card.js'
import { clip, clipFront, type Line, span, widthOf } from './span.js'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const PERIOD = 120
/** Columns; less says nothing. */
const LEAST_TRAIL = 10

export interface Spinner {
  /** `until`: Unix milliseconds of what is waited for. */
  set(text: string, until?: number): void
  /** The end of what there is of it so far, from the next movement on, until something else is set. */
  trail(text: string): void
  stop(): void
}

/** `draw` is given the line, and undefined when there is none any more. */
export function createSpinner(draw: (line: Line | undefined) => void, width: () => number): Spinner {
  let frame = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let now: Now | undefined

  function tick(): void {
    if (now !== undefined) draw(lineOf(now, FRAMES[frame++ % FRAMES.length] ?? '', width()))
  }

  return {
    set(text, until) {
      if (now?.text === text && now.until === until) return
      now = { text, since: Date.now(), ...(until !== undefined && { until }) }
      timer ??= setInterval(tick, PERIOD).unref()
      tick()
    },
    trail(text) {
      if (now !== undefined) now = { ...now, trail: text }
    },
    stop() {
      clearInterval(timer)
      timer = undefined
      now = undefined
      draw(undefined)
    },
  }
}

interface Now {
  readonly text: string
  readonly since: number
  readonly until?: number
  readonly trail?: string
}

function lineOf({ text, since, until, trail = '' }: Now, frame: string, width: number): Line {
  const at = Date.now()
  const left = until === undefined ? '' : `, in ${Math.max(0, Math.ceil((until - at) / 1000))} s`
  const elapsed = until === undefined && at - since > 2000 ? `  ${seconds(at - since)}` : ''
  const said = `${clip(text, Math.max(10, width - 4 - left.length - elapsed.length))}${left}${elapsed}`
  const room = width - 6 - widthOf(said)
  const shown = trail === '' || room < LEAST_TRAIL ? [] : [span(`  ${clipFront(trail, room)}`)]
  return [span(`${frame} `, 'cyan'), span(said, 'dim'), ...shown]
}
