/** Blocks of a conversation as lines. Pure. */
import type { ToolPart } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { clip, type Line, span, wrap } from '../../terminal/span.js'
import { callTitle, seconds } from '../../terminal/tool-card.js'

/** Of a long prompt its beginning. */
const PROMPT_LINES = 20

/** What somebody has said to the agent. */
export function userLines(text: string, width: number): readonly Line[] {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, PROMPT_LINES).flatMap((line, index): readonly Line[] => {
    const [first = [], ...more] = wrap([span(line.replaceAll('\t', '  '), 'bold')], width - 2)
    const mark = index === 0 ? span('› ', 'cyan') : span('  ')
    return [[mark, ...first], ...more.map((each): Line => [span('  '), ...each])]
  })
  const left = lines.length - PROMPT_LINES
  return left > 0 ? [...shown, [span(`  … ${left} more ${left === 1 ? 'line' : 'lines'}`, 'dim')]] : shown
}

/** What the runtime has told the agent, in a line: up to what it quotes. */
export function noticeText(text: string): string {
  const [head = ''] = text.split(/\n</, 1)
  return `told: ${head.split(/\n+/).join(' · ')}`
}

/** What the model has thought: one line, or all of it. */
export function thoughtLines(text: string, took: number, isWhole: boolean, width: number): readonly Line[] {
  const head = `∴ thought${took >= 100 ? ` ${seconds(took)}` : ''}`
  if (!isWhole) {
    const first = printable(text.trim().split('\n', 1)[0] ?? '').replaceAll('**', '')
    return [[span(clip(`${head}: ${first}`, width), 'dim')]]
  }
  const lines = text.trim().split('\n')
  return [[span(head, 'dim')], ...lines.flatMap((line) => wrap([span(line, 'dim', 'italic')], width))]
}

/** A call in one line. */
export function toolLine(part: ToolPart, width: number, mark: string): Line {
  return [span(`${mark} `, 'yellow'), span(clip(callTitle(part), width - 2))]
}
