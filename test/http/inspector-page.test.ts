import { describe, expect, test } from 'vitest'
import { createCharts } from '../../src/actors/inspector/charts.js'
import { arrowsOf, delayOf, duration } from '../../src/http/inspector/graph.js'
import { type Box, layoutChart } from '../../src/http/inspector/layout.js'
import { passes } from '../../src/http/inspector/log-view.js'
import { treeRows } from '../../src/http/inspector/rows.js'
import { generationMachine } from '../../src/machines/generation.machine.js'
import { packageMachine } from '../../src/machines/package.machine.js'
import { runMachine } from '../../src/machines/run.machine.js'
import { runtimeMachine } from '../../src/machines/runtime.machine.js'
import { sessionMachine } from '../../src/machines/session.machine.js'
import { LIMITS } from '../../src/protocol/limits.js'

const charts = createCharts().all([runtimeMachine, packageMachine, sessionMachine, runMachine, generationMachine])
const chart = (id: string) => {
  const found = charts.find((each) => each.id === id)
  if (found === undefined) throw new Error(`there is no chart ${id}`)
  return found
}

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}
const overlap = (a: Area, b: Area) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
const contains = (a: Area, b: Area) => a.x <= b.x && a.y <= b.y && a.x + a.width >= b.x + b.width && a.y + a.height >= b.y + b.height
const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}/`)

describe.each(charts.map((each) => [each.id, each] as const))('the chart of %s', (_id, machine) => {
  const { boxes, lines, width, height } = layoutChart(machine)

  test('has a box for every state, children inside their parent, and no box upon another', () => {
    const paths = (state: (typeof machine)['root']): string[] => state.states.flatMap((child) => [child.path, ...paths(child)])
    expect(
      boxes
        .filter(({ isAny }) => !isAny)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(paths(machine.root).toSorted())
    const wrong = boxes.flatMap((a, index) =>
      boxes.slice(index + 1).flatMap((b) => {
        if (isInside(b.path, a.path)) return contains(a, b) ? [] : [`${b.path} leaves ${a.path}`]
        if (isInside(a.path, b.path)) return contains(b, a) ? [] : [`${a.path} leaves ${b.path}`]
        return overlap(a, b) ? [`${a.path} lies upon ${b.path}`] : []
      }),
    )
    expect(wrong).toEqual([])
    expect(boxes.filter((box) => !contains({ x: 0, y: 0, width: width + 1, height: height + 1 }, box))).toEqual([])
  })

  test('draws its arrows from box to box, with labels that lie on no other label and in no state', () => {
    const known = new Map(boxes.map((box) => [box.path, box]))
    const labels = lines.map(({ label, labelAt }) => ({
      label,
      x: labelAt.x - label.length * 2.9,
      y: labelAt.y - 7,
      width: label.length * 5.8,
      height: 14,
    }))
    const clashes = labels.flatMap((a, index) =>
      labels
        .slice(index + 1)
        .filter((b) => overlap(a, b))
        .map((b) => `${a.label} on ${b.label}`),
    )
    expect(clashes).toEqual([])
    const leaves = boxes.filter(({ state, isAny }) => isAny || state.states.length === 0)
    expect(labels.flatMap((label) => leaves.filter((box) => overlap(label, box)).map(({ path }) => `${label.label} in ${path}`))).toEqual(
      [],
    )
    const touches = (box: Box | undefined, point: { x: number; y: number } | undefined) =>
      box !== undefined &&
      point !== undefined &&
      contains({ x: box.x - 1, y: box.y - 1, width: box.width + 2, height: box.height + 2 }, { ...point, width: 0, height: 0 })
    expect(lines.filter(({ from, to, points }) => !touches(known.get(from), points[0]) || !touches(known.get(to), points.at(-1)))).toEqual(
      [],
    )
  })
})

test('an arrow names its events, with guards and delays in full in its title', () => {
  const idle = arrowsOf(chart('session').root).find(({ from, to }) => from === 'idle' && to === 'asleep')
  expect(idle).toMatchObject({ label: 'after idleMemory', title: 'idle: after idleMemory (60 s) → asleep' })
  const looking = arrowsOf(chart('session').root).find(({ from, to }) => from === 'idle' && to === 'looking')
  expect(looking?.title.split('\n')).toEqual(['idle: at once [isWakePending] → looking', 'idle: woken → looking'])
})

test('a delay counts down only where it ends the state', () => {
  expect(delayOf(chart('generation'), ['draining'])).toBe(LIMITS.plugins.drain)
  expect(delayOf(chart('generation'), ['leaving'])).toBe(LIMITS.plugins.offDrain)
  expect(delayOf(chart('generation'), ['serving'])).toBeUndefined()
  expect(delayOf(chart('package'), ['active'])).toBeUndefined()
  expect([duration(40), duration(1500), duration(60_000), duration(300_000), duration(9_000_000), duration(260_000_000)]).toEqual([
    '40 ms',
    '1.5 s',
    '60 s',
    '5 min',
    '2 h',
    '3 d',
  ])
})

test('the tree is ordered by kind, closes, and a filter keeps what leads to a hit', () => {
  const actor = (id: string, kind: string, parentId?: string) => ({
    id,
    kind,
    name: id,
    state: [],
    restarts: 0,
    ...(parentId && { parentId }),
  })
  const actors = [
    actor('session:b', 'session'),
    actor('session:b/run', 'run', 'session:b'),
    actor('pty:1', 'pty'),
    actor('package:a', 'package'),
    actor('runtime', 'runtime'),
  ]
  const shown = (closed: string[], filter: string) =>
    treeRows(actors, new Set(closed), filter).map(({ actor: { id }, depth }) => `${depth} ${id}`)
  expect(shown([], '')).toEqual(['0 runtime', '1 package:a', '1 session:b', '2 session:b/run', '1 pty:1'])
  expect(shown(['session:b'], '')).toEqual(['0 runtime', '1 package:a', '1 session:b', '1 pty:1'])
  expect(shown(['session:b'], 'RUN ')).toEqual(['0 runtime', '1 session:b', '2 session:b/run'])
})

test('the log is filtered by type, by text, and by an actor with all below it', () => {
  const record = { sequence: 1, at: 1, actorId: 'session:a/run', type: 'event', event: 'woken', shape: '{runId: string(3)}' } as const
  const all = { types: new Set(['event']), text: '', actorId: undefined }
  expect(passes(record, all)).toBe(true)
  expect(passes(record, { ...all, types: new Set(['stop']) })).toBe(false)
  expect([passes(record, { ...all, actorId: 'session:a' }), passes(record, { ...all, actorId: 'session:' })]).toEqual([true, false])
  expect([passes(record, { ...all, text: 'runid' }), passes(record, { ...all, text: 'nothing' })]).toEqual([true, false])
})
