/** What happened: the records up to the position, as far as they pass the filters. */
import type { InspectedActor, InspectorRecord } from '../../../protocol/system/inspector.js'
import { button, clock, h } from '../elements.js'
import { isMark } from '../marks.js'
import type { Model } from '../model.js'
import { emptyLog } from './empty-log.js'
import { shortId } from '../names.js'
import { isFailure } from './record-view.js'
import { virtualList } from './virtual-list.js'

export interface LogFilter {
  readonly types: ReadonlySet<string>
  readonly text: string
  /** Only this actor and what is below it. */
  readonly actorId: string | undefined
  readonly isFailuresOnly: boolean
}

export interface LogWays {
  /** A click: the record is shown whole. */
  select(record: InspectorRecord): void
  /** A double click: back to the moment of the record. */
  go(index: number): void
  /** Nothing is filtered any more. */
  showAll(): void
}

export interface LogView {
  /** `isLive`: records come from a server. */
  update(model: Model, filter: LogFilter, selected: number | undefined, isLive: boolean): void
}

const ROW = 20

export function passes(record: InspectorRecord, filter: LogFilter, actor?: InspectedActor): boolean {
  const { type, actorId, event, shape, result } = record
  if (!filter.types.has(type)) return false
  if (filter.isFailuresOnly && !isFailure(record)) return false
  if (filter.actorId !== undefined && actorId !== filter.actorId && !actorId.startsWith(`${filter.actorId}/`)) return false
  if (filter.text === '') return true
  const { kind = '', title = '', pluginId = '' } = actor ?? {}
  return `${actorId} ${kind} ${title} ${pluginId} ${event ?? ''} ${isMark(record) ? (record.after?.[0] ?? '') : ''} ${shape ?? ''} ${result ?? ''}`
    .toLowerCase()
    .includes(filter.text)
}

export function logView(element: HTMLElement, ways: LogWays): LogView {
  let chosen: number | undefined
  let shown: { readonly record: InspectorRecord; readonly index: number }[] = []
  /** Actors as they were told of, by path. */
  let named: ReadonlyMap<string, InspectedActor> = new Map()
  let key = ''
  let read = 0
  let firstRead: InspectorRecord | undefined
  const list = virtualList(element, ROW, (index) => draw(index))
  const none = h('p', { class: 'note', hidden: true })
  element.append(none)

  function draw(index: number): HTMLElement {
    const entry = shown[index]
    if (entry === undefined) return h('div')
    const { record } = entry
    const line = h(
      'div',
      {
        class: `row log ${record.type}${isFailure(record) ? ' failure' : ''}${isMark(record) ? ' mark' : ''}`,
        'data-sequence': record.sequence,
        'aria-current': record.sequence === chosen ? 'true' : undefined,
      },
      h('span', { class: 'time' }, clock(record.at)),
      h('span', { class: 'type' }, isMark(record) ? '' : record.type),
      h('span', { class: 'actor', title: record.actorId }, told(record)),
      h('span', { class: 'what', title: record.payload ?? record.shape }, isMark(record) ? (record.after?.[0] ?? '') : describe(record)),
    )
    line.addEventListener('click', ({ detail }) => (detail > 1 ? ways.go(entry.index) : ways.select(record)))
    return line
  }

  function told({ actorId }: InspectorRecord): string {
    const actor = named.get(actorId)
    const whose = actor?.pluginId === undefined ? '' : ` of ${actor.pluginId}`
    return actor?.title === undefined ? shortId(actorId) : `${actor.title}${whose}`
  }

  function tellNone({ records: { length: held }, position: past }: Model, filter: LogFilter, isLive: boolean): void {
    none.hidden = shown.length > 0
    if (shown.length > 0) return
    const { text, act } = emptyLog({ held, past, isLive }, filtersOf(filter))
    if (none.dataset['says'] === text) return
    none.dataset['says'] = text
    none.replaceChildren(text)
    if (act === 'forward') none.append(button('Forward', 'One record forward (])', () => ways.go(0)))
    if (act === 'show-all') none.append(button('Show all', 'Take every filter of the log away', ways.showAll))
  }

  function goToChosen(): void {
    const entry = shown.find(({ record }) => record.sequence === chosen)
    if (entry !== undefined) ways.go(entry.index)
  }

  element.addEventListener('keydown', (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (event.key === 'Enter') return goToChosen()
    const at = shown.findIndex(({ record }) => record.sequence === chosen)
    const next = by === undefined ? undefined : (shown[at + by] ?? (at < 0 ? shown.at(-1) : undefined))
    if (next === undefined) return
    event.preventDefault()
    ways.select(next.record)
    list.reveal(shown.indexOf(next))
  })

  return {
    update(model, filter, selected, isLive) {
      const { records, position, named: known } = model
      chosen = selected
      named = known
      const current = `${[...filter.types].join()} ${filter.actorId ?? ''} ${filter.isFailuresOnly} ${filter.text}`
      if (current !== key || position < read || records[0] !== firstRead) {
        shown = []
        read = 0
        key = current
        firstRead = records[0]
      }
      for (; read < position; read++) {
        const record = records[read]
        if (record !== undefined && passes(record, filter, named.get(record.actorId))) shown.push({ record, index: read })
      }
      tellNone(model, filter, isLive)
      list.update(shown.length, true)
    },
  }
}

/** What keeps records out of the log, in words. */
function filtersOf({ types, text, actorId, isFailuresOnly }: LogFilter): string[] {
  const off = ['event', 'transition', 'start', 'stop'].filter((type) => !types.has(type))
  return [
    ...(actorId === undefined ? [] : [`only those of ${shortId(actorId)}`]),
    ...(isFailuresOnly ? ['only failures'] : []),
    ...(text === '' ? [] : [`only those with "${text}"`]),
    ...(off.length === 0 ? [] : [`no ${off.map((type) => `${type}s`).join(', ')}`]),
  ]
}

export function describe({ at, type, event, sourceId, shape, payload, before, after, end, result, actor }: InspectorRecord): string {
  const states = (list: readonly string[] | undefined) => (list ?? []).join(', ')
  switch (type) {
    case 'event':
      return `${event ?? ''} ${payload ?? (shape === '{}' ? '' : (shape ?? ''))}${sourceId === undefined ? '' : ` ← ${sourceId}`}`
    case 'transition':
      return `${states(before)} → ${states(after)}  on ${event ?? ''}`
    case 'start':
      return states(after)
    case 'stop':
      if (result !== undefined) return `${result}${actor?.startedAt === undefined ? '' : ` after ${at - actor.startedAt} ms`}`
      return `${end ?? ''}${(before ?? []).length === 0 ? '' : ` in ${states(before)}`}`
  }
}
