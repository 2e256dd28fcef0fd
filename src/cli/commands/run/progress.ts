/** What is told beside the answer: on a screen as it happens, elsewhere a line for what matters. */
import type { PromptEvent } from '../../../published/client/client-types.js'
import type { ToolPart } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { attemptText } from '../../terminal/attempt-text.js'
import { type Line, span, wrap } from '../../terminal/span.js'
import { createSpinner } from '../../terminal/spinner.js'
import { callTitle, toolCard } from '../../terminal/tool-card.js'
import type { Terminal } from '../../terminal/terminal.js'
import { toolLine } from './tool-line.js'

/** Characters of what is being written: more fit into no line. */
const MOST_TRAIL = 200

export interface Progress {
  /** What the model does when it is asked. */
  busy(what: 'waiting for the model' | 'thinking'): void
  /** What it writes, as it comes; a block of it is shown elsewhere once it is whole. */
  writes(partId: string, delta: string): void
  tool(part: ToolPart): void
  retry(event: Extract<PromptEvent, { type: 'retry' }>): void
  withdrawn(): void
  note(text: string): void
  thought(partId: string, delta: string): void
  /** Nothing moves while a person is asked, or when it is over. */
  rest(): void
}

export interface ProgressOptions {
  readonly isVerbose: boolean
  readonly isThinking: boolean
}

export function createProgress(terminal: Terminal, options: ProgressOptions): Progress {
  return terminal.isRich ? createScreenProgress(terminal, options) : createLineProgress(terminal, options)
}

function createLineProgress(terminal: Terminal, { isVerbose, isThinking }: ProgressOptions): Progress {
  const thoughts = createThoughts(terminal, isThinking)
  return {
    busy: () => undefined,
    writes: () => undefined,
    tool(part) {
      thoughts.end()
      const line = toolLine(part)
      if (line !== undefined) terminal.note(line)
      if (isVerbose) for (const each of toolCard(part, { width: terminal.width(), isVerbose }).slice(1)) terminal.note(textOf(each))
    },
    retry: (event) => terminal.note(`${event.message.replace(/\.$/, '')}; ${attemptText(event)}${waitText(event.next)}`),
    withdrawn: () => undefined,
    note: (text) => terminal.note(text),
    thought: thoughts.add,
    rest: thoughts.end,
  }
}

function createScreenProgress(terminal: Terminal, { isVerbose, isThinking }: ProgressOptions): Progress {
  const spinner = createSpinner(terminal.status, terminal.width)
  const thoughts = createThoughts(terminal, isThinking)
  const open = new Map<string, string>()
  let written = { partId: '', end: '' }
  return {
    busy: (what) => spinner.set(what),
    writes(partId, delta) {
      written = { partId, end: `${written.partId === partId ? written.end : ''}${delta}`.slice(-MOST_TRAIL) }
      spinner.set('writing')
      spinner.trail(printable(written.end.replaceAll(/\s+/g, ' ').trim()))
    },
    tool(part) {
      thoughts.end()
      if (part.state.status === 'pending' || part.state.status === 'running') open.set(part.callId, callTitle(part))
      else open.delete(part.callId)
      const card = toolCard(part, { width: terminal.width(), isVerbose })
      if (card.length > 0) terminal.lines(card)
      const next = [...open.values()].at(-1)
      spinner.set(next ?? 'waiting for the model')
    },
    retry: (event) => spinner.set(`${attemptText(event)}: ${printable(event.message)}`, event.next),
    withdrawn: () => terminal.lines([[span('the attempt failed; what it said above does not count', 'dim')]]),
    note: (text) => terminal.note(text),
    thought(partId, delta) {
      spinner.set('thinking')
      thoughts.add(partId, delta)
    },
    rest() {
      thoughts.end()
      spinner.stop()
    },
  }
}

/** What the model thinks, line by line. */
function createThoughts(terminal: Terminal, isWanted: boolean) {
  let part = ''
  let text = ''
  const show = (lines: string) => {
    if (lines.trim() === '') return
    terminal.lines(lines.split('\n').flatMap((line) => wrap([span(line, 'dim', 'italic')], terminal.width())))
  }
  function end(): void {
    show(text)
    text = ''
  }
  return {
    end,
    add(partId: string, delta: string): void {
      if (!isWanted) return
      if (part !== partId) end()
      part = partId
      text += delta
      const whole = text.lastIndexOf('\n')
      if (whole < 0) return
      show(text.slice(0, whole))
      text = text.slice(whole + 1)
    },
  }
}

/** `, again in 4 s`. */
function waitText(next: number | undefined): string {
  return next === undefined ? '' : `, again in ${Math.max(0, Math.ceil((next - Date.now()) / 1000))} s`
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('')
}
