/** What a plugin writes to its standard error: one log record per line, limited in length and per second (plugin-protocol §4.2). */
import { cut } from '../../../kernel/cut.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Clock, Log } from '../../../ports/effects.js'
import { createLineSplitter } from '../../../protocol/plugin/frame-lines.js'
import type { InstanceProblem } from '../generation/instance.js'
import { createRate } from '../../../kernel/rate.js'

/** Of the last words, for the message about a plugin that did not start. */
const QUOTED = 500
/** What Node writes below the message of an error, and the place in it. */
const EPILOGUE = /^(?: {4}at |Node\.js v\d)/
const FRAME = /(?:\(|at )(?:file:\/\/)?(\/[^()]+:\d+):\d+\)?$/
/** What Python and Node write above the message of an error: the place, then what stands there. */
const PROLOGUE = /^(?: {2}File "(?<file>[^"]+)", line (?<line>\d+)|(?:file:\/\/)?(?<place>\/[^ ]+:\d+)$)/

export interface PluginLog {
  receive(chunk: Uint8Array): void
  end(): void
  /** What it ended with so far, shortened: the last line that is not the tail of a stack trace, and the place that the trace names. */
  readonly lastWords: string
}

/** Follows lines to their last words. */
function createLastWords(): { see(line: string): void; readonly text: string } {
  let said = ''
  let above: string | undefined
  let place: string | undefined
  return {
    see(line) {
      const before = PROLOGUE.exec(line)?.groups
      if (before !== undefined) above = before['place'] ?? `${before['file']}:${before['line']}`
      else if (EPILOGUE.test(line)) place ??= FRAME.exec(line)?.[1]
      else if (above === undefined || /^\S/.test(line)) {
        said = line
        place = above
        above = undefined
      }
    },
    get text() {
      return cut(place === undefined || said.includes(place) ? said : `${said} (${place})`, QUOTED, '').toWellFormed()
    },
  }
}

export interface PluginLogOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Log
  readonly pluginId: string
  readonly instanceId: string
  onProblem(problem: InstanceProblem): void
  /** A text that is written as another: the folder of a copy as the one its author knows. */
  readonly shown?: { readonly from: string; readonly to: string } | undefined
  /** A line that is logged. */
  onLine?(text: string): void
}

export function createPluginLog({ clock, log, pluginId, instanceId, onProblem, shown, onLine }: PluginLogOptions): PluginLog {
  const { logLineBytes, logLinesPerSecond } = LIMITS.plugins
  const rate = createRate(clock)
  const decoder = new TextDecoder()
  let dropped = 0
  const last = createLastWords()

  const mayLog = (): boolean => {
    if (rate.count() <= logLinesPerSecond) return true
    if (dropped++ === 0)
      onProblem({
        code: 'log',
        message: `The plugin writes more than ${logLinesPerSecond} lines per second to its log; the rest is dropped.`,
      })
    return false
  }
  const lines = createLineSplitter(logLineBytes + 1, {
    onLine(line) {
      const isLogged = mayLog()
      const written = decoder.decode(line.subarray(0, isLogged ? line.length : QUOTED))
      const text = shown === undefined ? written : written.replaceAll(shown.from, shown.to)
      last.see(text)
      if (!isLogged) return
      log.info('plugin output', { pluginId, instanceId, line: text, ...(dropped === 0 ? {} : { droppedBefore: dropped }) })
      dropped = 0
      onLine?.(text)
    },
    onOversized() {
      if (!mayLog()) return
      log.warn('a line of plugin output is too long and was dropped', { pluginId, instanceId, maxBytes: logLineBytes })
      onProblem({ code: 'log', message: `A line of the plugin's log has more than ${logLineBytes} bytes and was dropped.` })
    },
  })

  return {
    receive: (chunk) => lines.push(chunk),
    end: () => lines.end(),
    get lastWords() {
      return last.text
    },
  }
}
