/** The sequence diagram: a row for each thing that happened to the actors in the lanes, drawn only while it is in sight. */
import type { InspectorRecord } from '../../../protocol/system/inspector.js'
import { clock, h, s } from '../elements.js'
import { describe } from './log-view.js'
import type { Model } from '../model.js'
import { shortId } from '../names.js'
import { lanesOf, type Step, stepOf } from '../sequence.js'
import { virtualList } from './virtual-list.js'

export interface SequenceView {
  update(model: Model, selected: string | undefined, chosen: ReadonlySet<string>): void
}

const ROW = 28
const TEXT = 12
const ARROW = 19
const STUB = 26
const TIME = 84
const CHARACTER = 6.7

export function sequenceView(heads: HTMLElement, element: HTMLElement, onJump: (index: number) => void): SequenceView {
  let steps: Step[] = []
  let lanes: readonly string[] = []
  let known = ''
  let key = ''
  let read = 0
  let firstRead: InspectorRecord | undefined
  let position = 0
  const list = virtualList(element, ROW, (index) => draw(steps[index]))

  const width = () => Math.max(200, element.clientWidth - TIME)
  const middle = (lane: number) => ((lane + 0.5) * width()) / lanes.length

  function draw(step: Step | undefined): HTMLElement {
    if (step === undefined) return h('div')
    const { record, index } = step
    const picture = s('svg', { width: width(), height: ROW, class: `step ${record.type}` })
    picture.append(...lanes.map((_, lane) => s('path', { class: 'life', d: `M${middle(lane)} 0V${ROW}` })), ...pieces(step))
    const line = h(
      'div',
      { class: `row sequence${index === position - 1 ? ' now' : ''}`, 'data-sequence': record.sequence, title: describe(record) },
      h('span', { class: 'time' }, clock(record.at)),
      picture,
    )
    line.addEventListener('click', () => onJump(index))
    return line
  }

  function pieces({ record, from, to, label }: Step): SVGElement[] {
    const x = middle(to)
    if (record.type === 'transition') {
      const half = (label.length * CHARACTER) / 2 + 8
      return [s('rect', { class: 'state', x: x - half, y: 4, width: 2 * half, height: ROW - 8, rx: 5 }), s('text', { x, y: 18 }, label)]
    }
    if (record.type === 'start' && from === undefined)
      return [s('circle', { class: 'start', cx: x, cy: ROW / 2, r: 4 }), beside(x, to, label)]
    if (record.type === 'stop') return [s('path', { class: 'stop', d: `M${x - 4} 10l8 8m0 -8l-8 8` }), beside(x, to, label)]
    if (from === undefined || from === to) {
      const side = isLast(to) ? 1 : -1
      return [arrow(x + side * STUB, x, ROW / 2), beside(x, to, label)]
    }
    return [arrow(middle(from), x, ARROW), s('text', { x: (middle(from) + x) / 2, y: TEXT }, label)]
  }

  /** Where there is room: to the right, in the last lane to the left. */
  function beside(x: number, lane: number, label: string): SVGElement {
    return s('text', { x: isLast(lane) ? x - 9 : x + 9, y: 18, class: isLast(lane) ? 'before' : 'after' }, label)
  }

  const isLast = (lane: number) => lanes.length > 1 && lane === lanes.length - 1

  function readOn(model: Model): void {
    for (; read < model.position; read++) {
      const record = model.records[read]
      const step = record && stepOf(record, read, lanes)
      if (step !== undefined) steps.push(step)
    }
  }

  return {
    update(model, selected, chosen) {
      // Lanes of a family follow what started since.
      const wanted = `${selected ?? ''} ${[...chosen].join()} ${model.position} ${model.records[0]?.sequence ?? 0}`
      if (wanted !== known) lanes = lanesOf(model, selected, chosen)
      known = wanted
      if (lanes.join() !== key || model.position < read || model.records[0] !== firstRead) {
        key = lanes.join()
        steps = []
        read = 0
        firstRead = model.records[0]
        heads.replaceChildren(...lanes.map((id) => h('span', { title: id, 'data-lane': id }, shortId(id).replace(/^.*\/(?=[^/]*$)/, ''))))
      }
      position = model.position
      heads.style.width = `${TIME + width()}px`
      readOn(model)
      list.update(steps.length, true)
    },
  }
}

function arrow(from: number, to: number, y: number): SVGElement {
  const back = from < to ? -6 : 6
  return s(
    'g',
    { class: 'arrow' },
    s('path', { d: `M${from} ${y}H${to + back}` }),
    s('path', { class: 'tip', d: `M${to} ${y}l${back} -3.5v7z` }),
  )
}
