/**
 * Histories that are wider than others: what happens with plugins in processes of their own comes between the steps of another history.
 *
 * I1 The steps of the other history stay as they are, in their order: what is drawn here shifts nothing there.
 */
import { createRandom, type Random } from '../../src/simulation/random.js'
import type { History, Step } from './history.js'
import type { LodgerStep } from './acts-lodger.js'
import { isPursuingSeed, pursuing } from './draw-goals.js'
import { isOutwardSeed, outward } from './draw-outside.js'
import type { TenantStep } from './acts-tenants.js'

/** Of so many seeds one is of a wide history. */
const WIDE = 2
/** After so many steps comes one more. */
const EVERY = 3
const SESSIONS = 3
/** Names of prompts that no other history gives. */
const NAMES = 700_000
const SALT = 0x51de

/** As the seed has it. */
export function widened(seed: number, history: History): History {
  if (isOutwardSeed(seed)) return outward(seed, history)
  if (isPursuingSeed(seed)) return pursuing(seed, history)
  return seed % WIDE === 0 ? widenedBy(createRandom(seed ^ SALT), history) : history
}

function widenedBy(random: Random, history: History): History {
  const first: readonly LodgerStep[] = [
    { do: 'lodge', how: 'moves-in' },
    { do: 'trust', how: 'approves' },
  ]
  const tenants: readonly TenantStep[] = [0, 1].map((tenant) => ({ do: 'tenant', tenant, how: 'creates' }))
  let name = NAMES
  return history.flatMap((step, at) => {
    if (at === 0) return [step, ...first, ...tenants]
    const more = random.isOneIn(EVERY) ? drawWide(random, ++name) : []
    return [step, ...more.map((each) => ({ ...each, ...(random.isOneIn(2) && { turns: random.below(4) }) }))]
  })
}

const KINDS = [
  'tenant',
  'tenant',
  'tenant',
  'asks',
  'asks',
  'asks',
  'asks',
  'manner',
  'manner',
  'trust',
  'trust',
  'stirs',
  'crash',
  'lodge',
  'when',
  'when',
] as const
const MANNERS = [
  'well',
  'well',
  'well',
  'slow',
  'late',
  'twice',
  'dies',
  'hangs',
  'floods',
  'clings',
  'clings',
  'refuses',
  'dawdles',
] as const

const STIRS: LodgerStep = { do: 'lodger', how: 'stirs' }
const SLOW = [0, 100, 1000]

function drawWide(random: Random, name: number): History {
  switch (random.pick(KINDS)) {
    case 'asks': {
      const tools = Array.from({ length: 1 + random.below(2) }, () => 'lodges' as const)
      const plays = Array.from({ length: 1 + random.below(2) }, () => ({ as: 'calls' as const, words: 0, tools }))
      return [{ do: 'prompt', session: random.below(SESSIONS), name, delivery: 'queue', plays }]
    }
    case 'tenant':
      return [drawTenant(random, name)]
    case 'manner':
      return [{ do: 'manner', is: random.pick(MANNERS) }]
    case 'trust':
      return [{ do: 'trust', how: random.isOneIn(3) ? 'revokes' : 'approves' }]
    case 'stirs':
      return [...(random.isOneIn(3) ? [{ do: 'slow' as const, ms: random.pick(SLOW) }] : []), STIRS]
    case 'crash':
      return [...(random.isOneIn(2) ? [STIRS] : []), { do: 'lodger', how: random.pick(['dies', 'hangs']) }]
    case 'lodge':
      return [{ do: 'lodge', how: random.isOneIn(4) ? 'moves-out' : 'moves-in' }]
    case 'when': {
      const machine = random.pick(MACHINES)
      const state = random.pick(MOMENTS[machine] ?? [])
      return [{ do: 'when', machine, state, nth: 1 + random.below(3), steps: [random.pick(THEN)] }]
    }
  }
}

const TOOLS = ['answers', 'writes', 'guarded', 'question', 'task', 'waits', 'lodges', 'fails'] as const

function drawTenant(random: Random, name: number): TenantStep {
  const tenant = random.below(2)
  const how = random.pick(['creates', 'asks', 'asks', 'asks', 'aborts', 'deletes'] as const)
  if (how !== 'asks') return { do: 'tenant', tenant, how }
  return { do: 'tenant-asks', tenant, name, plays: [{ as: 'calls', words: 1, tools: [random.pick(TOOLS)] }] }
}

/** Where it matters what happens: machines and states as charts call them. */
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  generation: ['starting', 'publishing', 'serving', 'draining', 'retiring', 'killing'],
  instance: ['starting.spawning', 'starting.initializing', 'running.serving', 'retiring', 'killing'],
  package: [
    'resting.permission-required',
    'running.starting.enabled',
    'running.starting.loading',
    'running.starting.restoring',
    'running.degraded',
  ],
  link: ['retired'],
  lease: ['used', 'freeing'],
  workspace: ['tracked.files.looking'],
  'tool-call': ['executing'],
}
const MACHINES = Object.keys(MOMENTS)
const THEN: readonly Step[] = [
  { do: 'trust', how: 'revokes' },
  { do: 'trust', how: 'revokes' },
  { do: 'trust', how: 'approves' },
  { do: 'lodge', how: 'moves-in' },
  { do: 'lodger', how: 'dies' },
  { do: 'lodger', how: 'hangs' },
  { do: 'lodger', how: 'stirs' },
  { do: 'manner', is: 'clings' },
  { do: 'restart' },
  { do: 'die', how: 'kill', torn: 1 },
  { do: 'abort', session: 0, queue: 'go-on' },
  { do: 'fill', how: 'ENOSPC' },
  { do: 'fill', how: 'EIO' },
]
