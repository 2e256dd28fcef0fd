import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createCharts } from '../../../src/actors/inspector/charts.js'
import { layoutOf } from '../../../src/actors/inspector/layouts.js'
import { arrowKey, marksOf, takenBy } from '../../../src/programs/page/chart/chart-marks.js'
import { allStates, arrowsOf, delayOf } from '../../../src/programs/page/chart/graph.js'
import { isFailure } from '../../../src/programs/page/views/record-view.js'
import { describe as describeRecord, passes } from '../../../src/programs/page/views/log-view.js'
import { readAddress, writeAddress } from '../../../src/programs/page/address.js'
import { createModel, receive } from '../../../src/programs/page/model.js'
import { shortId } from '../../../src/programs/page/names.js'
import { approvalOf, movesOf, otherApprovals } from '../../../src/programs/page/plugin-moves.js'
import { eventWords, LANES, lanesOf, stepOf } from '../../../src/programs/page/sequence.js'
import { duration } from '../../../src/programs/page/chart/measures.js'
import { treeRows } from '../../../src/programs/page/views/rows.js'
import type { InspectedLayout, InspectedPlugin, InspectedState } from '../../../src/protocol/system/inspector.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const source = fileURLToPath(new URL('../../../src/machines', import.meta.url))
const modules: object[] = await Promise.all(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.machine.ts'))
    .map((name) => import(`${source}/${name}`)),
)
const charts = createCharts()
  .all(modules.flatMap((module) => Object.values(module)))
  .map((machine) => {
    const layout = layoutOf(machine.id)
    if (layout === undefined) throw new Error(`${machine.id} is not laid out: npm run charts`)
    return { ...machine, layout }
  })
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
const point = (x: number, y: number): Area => ({ x, y, width: 0, height: 0 })
/** Height of the name of a state that has others inside. */
const NAME = 24
const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}/`)

/** Labels that lie on each other, in a state without states inside, on the name of another, or outside of the chart. */
function clashesOf({ boxes, lines, width, height }: InspectedLayout): string[] {
  const isBox = (path: string) => boxes.some((box) => isInside(box.path, path))
  const named = boxes.map((box) => (isBox(box.path) ? { ...box, height: NAME } : box))
  const chart = { x: 0, y: 0, width: width + 1, height: height + 1 }
  return lines.flatMap((a, index) => [
    ...lines
      .slice(index + 1)
      .filter((b) => overlap(a.at, b.at))
      .map((b) => `${a.label.join()} on ${b.label.join()}`),
    ...named.filter((box) => overlap(a.at, box)).map(({ path }) => `${a.label.join()} in ${path}`),
    ...(contains(chart, a.at) ? [] : [`${a.label.join()} outside`]),
  ])
}

describe.each(charts.map((each) => [each.id, each] as const))('the chart of %s', (_id, machine) => {
  const { boxes, lines, width, height } = machine.layout

  test('has a box for every state, children inside their parent, and no box upon another', () => {
    const paths = [...allStates(machine.root)].map(({ path }) => path).filter((path) => path !== '')
    const drawn = boxes.map(({ path }) => path).filter((path) => !path.endsWith('/*'))
    expect(drawn.toSorted()).toEqual(paths.toSorted())
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

  test('draws all its arrows from box to box, with labels that lie on no other label and in no state', () => {
    expect(lines.map(arrowKey).toSorted()).toEqual(arrowsOf(machine).map(arrowKey).toSorted())
    const known = new Map(boxes.map((box) => [box.path, box]))
    expect(clashesOf(machine.layout)).toEqual([])
    expect(lines.filter(({ label }) => label.length === 0 || label.length > 3)).toEqual([])
    const touches = (path: string, [x, y]: readonly [number, number] = [-99, -99]) => {
      const box = known.get(path)
      return box !== undefined && contains({ x: box.x - 1, y: box.y - 1, width: box.width + 2, height: box.height + 2 }, point(x, y))
    }
    expect(lines.filter(({ from, to, points }) => !touches(from, points[0]) || !touches(to, points.at(-1)))).toEqual([])
  })
})

test('of every chart with two labels, one that is moved onto another, into a state or onto the name of one is found', () => {
  const told = charts.flatMap(({ id, layout }) => {
    const [first, second] = layout.lines
    const inner = layout.boxes.find(({ path }) => path.includes('.'))
    const outer = layout.boxes.find(({ path }) => inner?.path.startsWith(`${path}.`) === true)
    if (first === undefined || second === undefined) return []
    const [one, other] = [first.label.join(), second.label.join()]
    const moved = (to: Area) =>
      clashesOf({ ...layout, lines: [{ ...first, at: { ...first.at, x: to.x + 1, y: to.y + 1 } }, ...layout.lines.slice(1)] })
    const [state] = layout.boxes
    return [
      [id, moved(second.at).includes(`${one} on ${other}`)],
      [id, moved(state ?? second.at).includes(`${one} in ${state?.path ?? ''}`)],
      ...(outer === undefined ? [] : [[id, moved(outer).includes(`${one} in ${outer.path}`)]]),
    ]
  })
  expect(told.length).toBeGreaterThan(2 * 30)
  expect(told.filter(([, isFound]) => isFound !== true)).toEqual([])
})

test('every name of an event is whole on every chart', () => {
  const cut = charts.flatMap(({ id, layout }) =>
    layout.lines.flatMap(({ label }) => label.filter((text) => text.endsWith('…')).map((text) => `${id}: ${text}`)),
  )
  expect(cut).toEqual([])
})

test('no chart has more than ten states at a level', () => {
  const wide = charts.flatMap(({ id, root }) =>
    [...allStates(root)].filter(({ states }) => states.length > 10).map(({ path }) => `${id} ${path}`),
  )
  expect(wide).toEqual([])
})

test('an arrow names its events with their guards, and delays in full in its title', () => {
  const idle = arrowsOf(chart('session')).find(({ from, to }) => from === 'idle' && to === 'asleep')
  expect(idle).toMatchObject({ labels: ['after idleMemory'], title: 'idle: after idleMemory (60 s) → asleep' })
  const looking = arrowsOf(chart('session')).find(({ from, to }) => from === 'idle' && to === 'looking')
  expect(looking?.labels).toEqual(['at once [isWakePending]', 'woken'])
  expect(looking?.title.split('\n')).toEqual(['idle: at once [isWakePending] → looking', 'idle: woken → looking'])
  const pausing = chart('session').root.states.find(({ key }) => key === 'pausing')
  expect(pausing?.transitions.map(({ guard }) => guard)).toContain('not hasRun')
})

test('an arrow that leaves a state from inside begins at its border, and says what it leads to inside another', () => {
  const arrows = arrowsOf(chart('runtime'))
  expect(arrows.find(({ from, to }) => from === 'starting' && to === 'serving')).toMatchObject({ box: '', labels: ['listen done'] })
  const inner = { key: 'x', type: 'atomic' as const, invokes: [], tags: [], transitions: [], states: [] }
  const way = { event: 'go', targets: ['b.y'], actions: [] }
  const states: InspectedState[] = [
    { ...inner, key: 'a', path: 'a', transitions: [way, { ...way, event: 'begin', targets: ['b.x'] }] },
    {
      ...inner,
      key: 'b',
      path: 'b',
      type: 'compound',
      initial: 'x',
      states: ['x', 'y'].map((key) => ({ ...inner, key, path: `b.${key}` })),
    },
  ]
  const root: InspectedState = { ...inner, key: 'm', path: '', type: 'compound', initial: 'a', states }
  expect(arrowsOf({ id: 'm', root, delays: {} }).map(({ labels }) => labels)).toEqual([['go → y', 'begin']])
})

test('what can happen from a state is near, also from the states around it; the rest is far', () => {
  const runtime = chart('runtime')
  const { active, near, reachable } = marksOf(runtime, arrowsOf(runtime), ['starting.listening'])
  expect([...active]).toEqual(['', 'starting', 'starting.listening'])
  expect([...near].filter((key) => key.includes('→'))).toEqual(['starting→stopping', 'starting→killing', 'starting→serving'])
  expect([...reachable]).toEqual(['', 'starting', 'starting.listening', 'serving', 'stopping', 'killing'])
})

test('a transition took the arrow that begins innermost', () => {
  const taken = (before: string[], after: string[]) =>
    takenBy(arrowsOf(chart('runtime')), { sequence: 1, at: 1, actorId: 'runtime', type: 'transition', before, after })
  expect([...taken(['starting.recovering'], ['starting.startingPlugins'])]).toEqual(['starting.recovering→starting.startingPlugins'])
  expect([...taken(['stopping.refusing'], ['killing'])]).toEqual(['stopping→killing'])
  expect([...taken(['stopped'], ['stopped'])]).toEqual([])
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
  expect(shown([], '')).toEqual(['0 runtime', '1 session:b', '2 session:b/run', '1 package:a', '1 pty:1'])
  expect(shown(['session:b'], '')).toEqual(['0 runtime', '1 session:b', '1 package:a', '1 pty:1'])
  expect(shown(['session:b'], 'RUN ')).toEqual(['0 runtime', '1 session:b', '2 session:b/run'])
  actors.push(actor('package:x@built-in', 'package'))
  expect(shown(['built-ins'], '').slice(-2)).toEqual(['1 pty:1', '1 built-ins'])
  expect(shown([], '').slice(-2)).toEqual(['1 built-ins', '2 package:x@built-in'])
})

test('names are short: a plugin without its place, an id that was made by its end', () => {
  expect(shortId('package:dev.example.greeter@/home/ada/project/generation:1')).toBe('dev.example.greeter/generation:1')
  expect(shortId('package:dev.example.greeter@/home/ada/project')).toBe('dev.example.greeter')
  expect(shortId('session:ses_0198c1d2e3f4abcdef/run')).toBe('session …4abcdef/run')
  expect(shortId('runtime')).toBe('runtime')
})

describe('a sequence diagram', () => {
  const member = (id: string, parentId?: string) => ({
    id,
    kind: 'x',
    name: id,
    machine: 'x',
    state: [],
    restarts: 0,
    ...(parentId && { parentId }),
  })
  const model = createModel()
  const [session, run, effect] = [member('session:a'), member('session:a/run', 'session:a'), { id: 'session:a/look', machine: undefined }]
  receive(
    model,
    [
      { sequence: 1, at: 1, actorId: 'session:a', type: 'start', actor: session },
      { sequence: 2, at: 2, actorId: 'session:a/run', type: 'start', actor: run },
      { sequence: 3, at: 3, actorId: 'session:a', sourceId: 'session:a/run', type: 'event', event: 'xstate.done.actor.run' },
      { sequence: 4, at: 4, actorId: 'session:a/run', type: 'stop', actor: run, end: 'done' },
      { sequence: 5, at: 5, actorId: 'session:b', type: 'event', event: 'woken' },
    ],
    0,
  )
  const steps = (lanes: string[]) => model.records.flatMap((record, index) => stepOf(record, index, lanes) ?? [])

  test('shows the family of the selected actor, also what has ended, or the chosen actors', () => {
    expect(lanesOf(model, 'session:a/run', new Set())).toEqual(['session:a', 'session:a/run'])
    expect(lanesOf(model, 'session:a', new Set(['session:b']))).toEqual(['session:b'])
    expect(lanesOf(model, undefined, new Set(Array.from({ length: 20 }, (_, index) => `pty:${index}`)))).toHaveLength(LANES)
    expect(effect.machine).toBeUndefined()
  })

  test('has an arrow from the lane of the sender, and nothing of actors in no lane', () => {
    expect(steps(['session:a', 'session:a/run']).map(({ from, to, label }) => [from, to, label])).toEqual([
      [undefined, 0, 'starts'],
      [0, 1, 'starts'],
      [1, 0, 'run done'],
      [undefined, 1, 'done'],
    ])
    expect(steps(['session:a']).map(({ from, label }) => [from, label])).toEqual([
      [undefined, 'starts'],
      [undefined, 'run done'],
    ])
    expect(eventWords('xstate.after.idleMemory.session.idle')).toBe('after idleMemory')
  })
})

test('an address leads back to what was looked at', () => {
  const address = {
    tab: 'plugins',
    actor: 'package:dev.example.a@/home/ada/a project',
    plugin: 'dev.example.a@/home/ada/a project',
    session: 'ses_1',
    at: { sequence: 12, time: 1_700_000_000_000 },
    lanes: ['session:a', 'session:a/run'],
    isSequence: true,
  }
  expect(readAddress(writeAddress(address))).toEqual(address)
  expect(readAddress('#at=nonsense')).toEqual({
    lanes: [],
    isSequence: false,
    at: undefined,
    tab: undefined,
    actor: undefined,
    plugin: undefined,
    session: undefined,
  })
})

describe('what moves a plugin on', () => {
  const plugin: InspectedPlugin = {
    key: 'dev.example.a@/w s',
    pluginId: 'dev.example.a',
    origin: 'package',
    workspace: '/w s',
    state: 'permission-required',
    verdict: 'untrusted',
    source: 'user',
    scope: 'workspace',
    revision: 'sha256:1',
    digest: 'sha256:2',
    runtime: 'process',
    requestedCapabilities: ['config-read'],
    grantedCapabilities: [],
    generations: [],
    strikes: 0,
    droppedFrames: 0,
    diagnostics: [],
  }
  const acts = (changes: Partial<InspectedPlugin>) => movesOf({ ...plugin, ...changes }).map(({ act, label }) => act ?? label)
  const generations = [{ number: 1, actorId: 'a', state: ['serving'] }]

  test('is an approval while it is missing, and where it could not hold, what is in the way', () => {
    expect(movesOf(plugin)[0]).toMatchObject({ act: 'approve', command: "svc plugin trust dev.example.a --directory '/w s' --source user" })
    expect(acts({})).toEqual(['approve', 'disable'])
    expect(acts({ unprovidedCapabilities: ['config-write'] })).toEqual(['Ask for less', 'disable'])
    expect(acts({ verdict: 'invalid', state: 'failed' })).toEqual(['Repair the package', 'reload', 'disable'])
    expect(movesOf({ ...plugin, scope: 'session' })[0]).toEqual(
      expect.objectContaining({ command: expect.stringContaining('--session <id>') }),
    )
  })

  test('is a reload, a switch or a retirement of what runs', () => {
    expect(acts({ state: 'active', verdict: 'trusted', generations })).toEqual(['reload', 'disable', 'withdraw'])
    expect(acts({ state: 'update-available', retainedRevision: 'sha256:0', generations })).toEqual([
      'approve',
      'reload',
      'disable',
      'withdraw',
    ])
    expect(acts({ origin: 'native', state: 'active', generations })).toEqual(['reload', 'disable'])
    expect(acts({ state: 'disabled', verdict: 'disabled' })).toEqual(['enable'])
  })

  test('is the command alone where native code is to be approved, with what that means', () => {
    const native = { approved: false, words: 'everything' }
    expect(acts({ native })).toEqual(['approve', 'Approve its native part', 'disable'])
    expect(movesOf({ ...plugin, native })[1]).toEqual({
      label: 'Approve its native part',
      does: 'It may do everything.',
      command: "svc plugin trust dev.example.a --directory '/w s' --source user --native",
    })
    expect(approvalOf({ ...plugin, native })).toMatchObject({ executableApproved: true, nativeApproved: false })
  })

  test('an approval names exactly the content that was shown, and leaves those of other places alone', () => {
    const other = { workspaceId: '/other', packageId: 'dev.example.a', revision: 'sha256:0', capabilities: [] }
    expect(approvalOf(plugin)).toEqual({
      workspaceId: '/w s',
      packageId: 'dev.example.a',
      revision: 'sha256:1',
      digest: 'sha256:2',
      scope: 'workspace',
      capabilities: ['config-read'],
      executableApproved: true,
      luaApproved: false,
      nativeApproved: false,
    })
    expect(otherApprovals(plugin, [other, { ...other, workspaceId: '/w s' }])).toEqual([other])
    expect(otherApprovals(plugin, other)).toEqual([other])
    expect(otherApprovals(plugin, undefined)).toEqual([])
  })
})

test('the log is filtered by type, by text, and by an actor with all below it', () => {
  const record = { sequence: 1, at: 1, actorId: 'session:a/run', type: 'event', event: 'woken', shape: '{runId: string(3)}' } as const
  const all = { types: new Set(['event']), text: '', actorId: undefined, isFailuresOnly: false }
  expect(passes(record, all)).toBe(true)
  expect(passes(record, { ...all, types: new Set(['stop']) })).toBe(false)
  expect([passes(record, { ...all, actorId: 'session:a' }), passes(record, { ...all, actorId: 'session:' })]).toEqual([true, false])
  expect([passes(record, { ...all, text: 'runid' }), passes(record, { ...all, text: 'nothing' })]).toEqual([true, false])
  const failed = ['generation.failed', 'xstate.error.actor.0.run', 'recordFailed'].map((event) =>
    passes({ ...record, event }, { ...all, isFailuresOnly: true }),
  )
  expect([passes(record, { ...all, isFailuresOnly: true }), ...failed]).toEqual([false, true, true, true])
  const actor = {
    id: 'session:a/run/call:c',
    kind: 'tool-call',
    name: 'call:c',
    state: [],
    restarts: 0,
    title: 'greet',
    pluginId: 'dev.example.hello',
  }
  const found = ['tool-call', 'greet', 'example.hello'].map((text) => passes(record, { ...all, text }, actor))
  expect([...found, passes(record, { ...all, text: 'greet' })]).toEqual([true, true, true, false])
  const ended = {
    sequence: 9,
    at: 1500,
    actorId: actor.id,
    type: 'stop' as const,
    end: 'done' as const,
    actor: { ...actor, startedAt: 1000 },
  }
  expect([describeRecord({ ...ended, result: 'completed' }), describeRecord(ended)]).toEqual(['completed after 500 ms', 'done'])
  expect(['failed', 'denied'].map((result) => isFailure({ ...ended, result }))).toEqual([true, false])
})
