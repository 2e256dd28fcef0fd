/** What a call of a tool did, in a few lines: the diff of an edit, the end of the output of a command, the list of what is to do. Pure. */
import type { ToolPart } from '../../protocol/message/message.js'
import { printable } from '../../protocol/text/visible-text.js'
import { listOf, textOf } from './fields.js'
import { clip, type Line, span } from './span.js'

/** Of a diff, and of the output of a command. */
const DIFF_LINES = 20
const OUTPUT_LINES = 5
const VERBOSE_LINES = 200

export interface CardOptions {
  readonly width: number
  readonly isVerbose: boolean
}

/** `read src/a.ts`: the tool and what it is about. */
export function callTitle({ tool, state }: ToolPart): string {
  const title = state.status === 'completed' && state.title !== '' ? state.title : subject(state.input)
  const text = printable(title).trim()
  return text.toLowerCase().startsWith(tool) ? text : `${tool} ${text}`.trim()
}

/** A call that is over. */
export function toolCard(part: ToolPart, options: CardOptions): readonly Line[] {
  const { state } = part
  if (state.status === 'error') {
    const [first = '', ...rest] = state.error.trimEnd().split('\n')
    const most = options.isVerbose ? VERBOSE_LINES : OUTPUT_LINES
    const head = [span('✗ ', 'red'), span(clip(callTitle(part), options.width - 2), 'bold')]
    return [head, ...indented([first, ...rest.slice(-most + 1)], options.width).map((text): Line => [span(text, 'red')])]
  }
  if (state.status !== 'completed') return []
  const seconds = took(state.time)
  const title = clip(callTitle(part), options.width - 2 - seconds.length)
  return [[span('● ', 'green'), span(title, 'bold'), span(seconds, 'dim')], ...body(part, state.output, state.metadata, options)]
}

function body(part: ToolPart, output: string, metadata: unknown, options: CardOptions): readonly Line[] {
  const todos = listOf(metadata, 'todos')
  if (todos !== undefined) return todos.map((todo) => todoLine(printable(textOf(todo, 'content') ?? ''), textOf(todo, 'status') ?? ''))
  const patches = listOf(metadata, 'files')?.map((file) => textOf(file, 'patch') ?? '')
  if (patches !== undefined) return patches.flatMap((patch) => (patch === '' ? [] : diffLines(patch, options)))
  const most = options.isVerbose ? VERBOSE_LINES : part.tool === 'bash' ? OUTPUT_LINES : 0
  const lines = output.trimEnd().split('\n')
  const left = lines.length - most
  const shown = most === 0 ? [] : indented(lines.slice(-most), options.width).map((text): Line => [span(text, 'dim')])
  return left > 0 && most > 0 ? [[span(`  … ${left} more ${left === 1 ? 'line' : 'lines'}`, 'dim')], ...shown] : shown
}

function todoLine(content: string, status: string): Line {
  if (status === 'completed') return [span('  ☑ ', 'green'), span(content, 'dim')]
  if (status === 'cancelled') return [span('  ☒ ', 'dim'), span(content, 'dim')]
  return status === 'in_progress' ? [span('  ▸ ', 'yellow'), span(content, 'bold')] : [span('  ☐ '), span(content)]
}

function diffLines(patch: string, { width, isVerbose }: CardOptions): readonly Line[] {
  const lines = patch.split('\n').filter((line) => /^[-+ @]/.test(line) && !/^(?:---|\+\+\+) /.test(line))
  const most = isVerbose ? VERBOSE_LINES : DIFF_LINES
  const left = lines.length - most
  const shown = lines.slice(0, most).map((line): Line => {
    const [text = ''] = indented([line], width)
    if (line.startsWith('+')) return [span(text, 'green')]
    return line.startsWith('-') ? [span(text, 'red')] : [span(text, 'dim')]
  })
  return left > 0 ? [...shown, [span(`  … ${left} more ${left === 1 ? 'line' : 'lines'}`, 'dim')]] : shown
}

function indented(lines: readonly string[], width: number): readonly string[] {
  return lines.map((line) => clip(`  ${line.replaceAll('\t', '  ')}`, width))
}

function took({ start, end }: { readonly start: number; readonly end?: number | undefined }): string {
  return end === undefined || end - start < 100 ? '' : `  ${seconds(end - start)}`
}

/** `0.4 s`, `12 s`, `3 min 4 s`. */
export function seconds(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const whole = Math.round(ms / 1000)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** The first text argument. */
function subject(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  return Object.values(input).find((value) => typeof value === 'string') ?? ''
}
