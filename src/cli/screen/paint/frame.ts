/** What stands below the conversation: what moves, what is asked, the line to type in, and how things stand. Pure. */
import { clip, type Line, span, widthOf, wrap } from '../../terminal/span.js'
import { seconds } from '../../terminal/tool-card.js'
import type { Frame, Place } from './painter.js'

export interface Scene {
  readonly done: readonly Line[]
  /** Of the conversation, what still changes. */
  readonly live: readonly Line[]
  readonly activity: { readonly text: string; readonly since: number; readonly until?: number } | undefined
  /** Said to the run, or queued, and not begun. */
  readonly waiting: readonly string[]
  readonly question: string | undefined
  readonly hint: string | undefined
  readonly editor: { readonly lines: readonly Line[]; readonly cursor: Place }
  /** What may follow what is typed. */
  readonly offers: readonly string[]
  readonly status: Line
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
export const FRAME_MS = 120
const WAITING = 3
const OFFERS = 6

/** Rows that the conversation may use of a screen. */
export function roomFor({ rows }: Size): number {
  return Math.max(3, Math.floor(rows / 2) - 2)
}

export function frameOf(scene: Scene, size: Size, now: number): Frame {
  const { columns, rows } = size
  const width = columns - 1
  const fit = (line: Line): readonly Line[] => (line.length === 0 ? [line] : wrap(line, width))
  const above = [
    ...scene.live.flatMap(fit),
    ...(scene.activity === undefined ? [] : [[], ...activityLine(scene.activity, width, now)]),
    ...scene.waiting
      .slice(0, WAITING)
      .map((text): Line => [span('  waits: ', 'yellow'), span(clip(oneLine(text), Math.max(8, width - 9)), 'dim')]),
    ...(scene.waiting.length > WAITING ? [[span(`  and ${scene.waiting.length - WAITING} more`, 'dim')] satisfies Line] : []),
    ...(scene.question === undefined
      ? []
      : [
          [],
          ...scene.question
            .trimEnd()
            .split('\n')
            .flatMap((text) => wrap([span(text, 'bold')], width, 2)),
        ]),
    ...(scene.hint === undefined ? [] : [[span(clip(scene.hint, width), 'yellow')] satisfies Line]),
  ]
  const { editor } = scene
  const below: readonly Line[] = [...offerLines(scene.offers, width), scene.status]
  const gap: readonly Line[] = [[]]
  // What has no room is above the screen, where nothing can be painted.
  const room = Math.max(0, rows - editor.lines.length - below.length - gap.length - 1)
  const shown = [...above.slice(-room || above.length), ...gap]
  const cursor = { row: shown.length + editor.cursor.row, column: editor.cursor.column }
  return { done: scene.done, live: [...shown, ...editor.lines, ...below], cursor }
}

function activityLine({ text, since, until }: NonNullable<Scene['activity']>, width: number, now: number): readonly Line[] {
  const frame = FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] ?? ''
  const left = until === undefined ? '' : `, in ${Math.max(0, Math.ceil((until - now) / 1000))} s`
  const elapsed = until === undefined && now - since > 2000 ? `  ${seconds(now - since)}` : ''
  const hint = width >= 60 ? '  Ctrl-C stops it' : ''
  const room = Math.max(8, width - 2 - widthOf(left) - widthOf(elapsed) - widthOf(hint))
  return [[span(`${frame} `, 'cyan'), span(`${clip(text, room)}${left}${elapsed}${hint}`, 'dim')]]
}

function offerLines(offers: readonly string[], width: number): readonly Line[] {
  const lines = offers.slice(0, OFFERS).map((text): Line => [span(`  ${clip(text, width - 2)}`, 'dim')])
  return offers.length > OFFERS ? [...lines, [span(`  … ${offers.length - OFFERS} more`, 'dim')]] : lines
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
