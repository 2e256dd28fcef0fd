/** One record of the log, whole: everything that is held of it, and the ways from it to its actor, its cause and its moment. */
import type { InspectorRecord } from '../../../protocol/system/inspector.js'
import { button, clock, h, local } from '../elements.js'
import type { Model } from '../model.js'

export interface RecordWays {
  showActor(id: string): void
  /** Shows another record, by its sequence number. */
  show(sequence: number): void
  /** Goes back to the moment of the record. */
  go(index: number): void
  close(): void
}

/** The record in the pane; an empty one where it is not held any more. */
export function recordPane(model: Model, sequence: number, ways: RecordWays): HTMLElement[] {
  const index = model.records.findIndex((record) => record.sequence === sequence)
  const record = model.records[index]
  const close = button('✕', 'Close', ways.close)
  if (record === undefined) return [h('p', { class: 'record-head' }, 'This record is not held any more.', close)]
  const { actorId, cause } = record
  const named = model.named.get(actorId)
  return [
    h(
      'p',
      { class: 'record-head' },
      h('b', {}, `#${sequence} ${record.type}`),
      button('Go to this moment', 'Tree, chart and log as they were then', () => ways.go(index)),
      close,
    ),
    h(
      'dl',
      {},
      ...told('when', `${local(record.at).slice(0, 10)} ${clock(record.at)}`),
      h('dt', {}, 'actor'),
      h(
        'dd',
        {},
        button(actorId, 'Show this actor', () => ways.showActor(actorId)),
      ),
      ...told('tool', named?.title),
      ...told('plugin', named?.pluginId),
      ...told('event', record.event),
      ...told('from', record.sourceId),
      ...told('before', record.before?.join(', ')),
      ...told('after', record.after?.join(', ')),
      ...told('took', durationOf(model, index)),
      ...told('ended', record.end),
      ...told('result', record.result),
      ...(cause === undefined
        ? []
        : [
            h('dt', {}, 'cause'),
            h(
              'dd',
              {},
              button(`#${cause}`, 'Show the record of the event', () => ways.show(cause)),
            ),
          ]),
    ),
    h('pre', {}, ...(laidOut(record.payload) ?? record.shape ?? '').split('\n').map(indented)),
  ]
}

/** A line of JSON; deeper ones stand as far in as the fourth. */
function indented(line: string): HTMLElement {
  const text = line.trimStart()
  return h('div', { class: `in-${Math.min(4, (line.length - text.length) / 2)}` }, text)
}

function told(name: string, text: string | undefined): HTMLElement[] {
  return text === undefined || text === '' ? [] : [h('dt', {}, name), h('dd', {}, text)]
}

/** Of an actor that stopped: since its start, as far as that is held. */
function durationOf({ records }: Model, index: number): string | undefined {
  const record = records[index]
  if (record?.type !== 'stop') return undefined
  const start = records.findLast(({ type, actorId }, at) => at < index && type === 'start' && actorId === record.actorId)
  return start === undefined ? undefined : `${record.at - start.at} ms`
}

/** JSON over several lines; what was cut is no JSON, and stays as it is. */
function laidOut(payload: string | undefined): string | undefined {
  if (payload === undefined) return undefined
  try {
    return JSON.stringify(JSON.parse(payload), undefined, 2)
  } catch {
    return payload
  }
}

/** What somebody who looks for a failure looks for: an actor that ended with an error, an event that tells of one. */
export function isFailure({ type, end, result, event = '' }: InspectorRecord): boolean {
  return type === 'stop' ? end === 'error' || result === 'failed' : /(?:error|failed|failure|fault|crashed|rejected)\b/i.test(event)
}
