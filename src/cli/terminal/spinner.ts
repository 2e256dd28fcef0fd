/** What goes on just now, in one line of its own that moves. */
import { seconds } from './tool-card.js'
import { clip, type Line, span } from './span.js'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const PERIOD = 120

export interface Spinner {
  /** `until`: Unix milliseconds of what is waited for. */
  set(text: string, until?: number): void
  stop(): void
}

/** `draw` is given the line, and undefined when there is none any more. */
export function createSpinner(draw: (line: Line | undefined) => void, width: () => number): Spinner {
  let frame = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let now: { readonly text: string; readonly since: number; readonly until?: number } | undefined

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
    stop() {
      clearInterval(timer)
      timer = undefined
      now = undefined
      draw(undefined)
    },
  }
}

function lineOf({ text, since, until }: { text: string; since: number; until?: number }, frame: string, width: number): Line {
  const at = Date.now()
  const left = until === undefined ? '' : `, in ${Math.max(0, Math.ceil((until - at) / 1000))} s`
  const elapsed = until === undefined && at - since > 2000 ? `  ${seconds(at - since)}` : ''
  return [span(`${frame} `, 'cyan'), span(`${clip(text, Math.max(10, width - 4 - left.length - elapsed.length))}${left}${elapsed}`, 'dim')]
}
