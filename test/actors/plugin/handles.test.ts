// Holds plugin-protocol §10, service.md "Remote resource id".
import { describe, expect, test } from 'vitest'
import type { Broker, BrokerLease, GrantedBroker } from '../../../src/actors/plugin/brokers/broker.js'
import type { HandleKind } from '../../../src/actors/plugin/brokers/handles.js'
import { createLeases, type InstanceLease } from '../../../src/actors/plugin/brokers/leases.js'
import { processBroker } from '../../../src/actors/plugin/brokers/process-spawn.broker.js'
import type { ActorRegistry } from '../../../src/kernel/roots.js'
import { BROKER_OPERATIONS } from '../../../src/protocol/plugin/broker-operations.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import type { PluginOwner } from '../../../src/protocol/plugin/plugin-frame.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { storeWith } from './fake-lease.js'
import { OWNER } from './played-link.js'

const waits = () => undefined

/** What each capability names by ids. */
const KINDS: Readonly<Partial<Record<HostCapability, HandleKind>>> = {
  'process-spawn': 'program',
  'task-spawn': 'task',
  network: 'exchange',
  'policy-invoke': 'question',
  'provider-access': 'answer',
}
const HOLDING = Object.entries(KINDS) as readonly (readonly [HostCapability, HandleKind])[]

/** Opens a thing, finds it, ends it. */
function holder(kind: HandleKind, { table }: BrokerLease): GrantedBroker {
  const open = table<string>(kind, () => undefined)
  return {
    async call(operation, input) {
      if (operation === 'open') return open.add(String(input))
      return operation === 'close' ? open.close(String(input)) : open.get(String(input))
    },
  }
}

/** The incarnations that the ids of one may be shown to. */
const OTHERS: Readonly<Record<string, PluginOwner>> = {
  'another plugin': { ...OWNER, pluginId: 'dev.example.other' },
  'another workspace': { ...OWNER, workspaceId: '/project/elsewhere' },
  'another revision': { ...OWNER, packageRevision: 'sha256:def', registryGeneration: 4 },
  'a later generation': { ...OWNER, registryGeneration: 4 },
  'another process of the same generation': OWNER,
  'another session': { ...OWNER, scope: 'session', scopeId: 'ses_2' },
}

function setUp() {
  const effects = createFakeEffects()
  const counted: { issued: number; open: number; refused: number }[] = []
  const actors: ActorRegistry = {
    add: (ref, kind) => void (kind === 'handles' && ref.subscribe((snapshot) => void counted.push((snapshot as never)['context']))),
  }
  const brokers = new Map<HostCapability, Broker>(
    HOLDING.map(([capability, kind]) => [capability, { grant: (lease) => holder(kind, lease) }]),
  )
  const leases = createLeases({ effects, brokers, actors })
  let number = 0
  const grant = (owner: PluginOwner = OWNER) =>
    leases.grant(
      {
        owner: { ...owner, instanceId: `plugin-instance-${++number}` },
        place: { scope: 'workspace', workspace: owner.workspaceId ?? '' },
        declared: {},
        listedHosts: [],
      },
      [...brokers.keys()],
    )
  return { effects, grant, counted }
}

async function ask(lease: InstanceLease, capability: HostCapability, operation: string, input: unknown): Promise<unknown> {
  const brokered = lease.brokered(capability)
  if (brokered === undefined) return 'no lease'
  return brokered.call(operation, input, { waits }).catch((error: unknown) => (error instanceof Error ? error.message : error))
}

const unknown = (id: string) => `nothing of the id "${id}" is open`

describe.each(HOLDING)('an id of %s', (capability) => {
  test('is pr_ and 32 digits that say nothing, and names what it was given for', async () => {
    const { grant } = setUp()
    const lease = grant()
    const ids = [String(await ask(lease, capability, 'open', 'a')), String(await ask(lease, capability, 'open', 'b'))]
    expect(ids).toEqual([expect.stringMatching(/^pr_[0-9a-f]{32}$/), expect.stringMatching(/^pr_[0-9a-f]{32}$/)])
    expect(new Set(ids).size).toBe(2)
    expect([await ask(lease, capability, 'get', ids[0]), await ask(lease, capability, 'get', ids[1])]).toEqual(['a', 'b'])
  })

  test.each(Object.entries(OTHERS))('names nothing to %s, as one that nobody ever had', async (_who, owner) => {
    const { grant, effects } = setUp()
    const [mine, other] = [grant(), grant(owner)]
    const id = String(await ask(mine, capability, 'open', 'mine'))
    expect(await ask(other, capability, 'get', id)).toBe(unknown(id))
    expect(await ask(other, capability, 'close', id)).toBe(false)
    expect(await ask(mine, capability, 'get', id)).toBe('mine')
    expect(effects.logs.filter(({ message }) => message === 'a plugin named what another incarnation has open')).toHaveLength(1)
  })

  test('names nothing after it was closed, nor after its generation has retired, to whomever', async () => {
    const { grant } = setUp()
    const [mine, next] = [grant(), grant({ ...OWNER, registryGeneration: 4 })]
    const [closed, left] = [String(await ask(mine, capability, 'open', 'a')), String(await ask(mine, capability, 'open', 'b'))]
    expect(await ask(mine, capability, 'close', closed)).toBe(true)
    expect(await ask(mine, capability, 'get', closed)).toBe(unknown(closed))
    const held = mine.brokered(capability)
    mine.revoke()
    await expect(held?.call('get', left, { waits })).rejects.toThrow('plugin instance is retired')
    await mine.freed()
    expect([await ask(mine, capability, 'get', left), await ask(next, capability, 'get', left)]).toEqual(['no lease', unknown(left)])
  })

  test('names nothing to another kind of call of the same incarnation', async () => {
    const { grant } = setUp()
    const lease = grant()
    const id = String(await ask(lease, capability, 'open', 'mine'))
    const answers = await Promise.all(HOLDING.map(async ([each]) => [each, await ask(lease, each, 'get', id)]))
    expect(answers).toEqual(HOLDING.map(([each]) => [each, each === capability ? 'mine' : unknown(id)]))
  })

  test('cannot be made up from one that is known', async () => {
    const { grant, counted } = setUp()
    const lease = grant()
    const id = String(await ask(lease, capability, 'open', 'mine'))
    const flipped = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
    const forged = [flipped, id.toUpperCase(), id.slice(3), ` ${id}`, `${id}\0`, 'pr_', 'prg_1', 'toString', '__proto__']
    const answers = await Promise.all(forged.map(async (each) => ask(lease, capability, 'get', each)))
    expect(answers).toEqual(forged.map(unknown))
    expect(counted.at(-1)).toMatchObject({ issued: 1, open: 1, refused: forged.length })
  })
})

test('a table is over once nothing of it is open, and says how often it was asked for what it did not know', async () => {
  const { grant, counted } = setUp()
  const lease = grant()
  for (const [capability] of HOLDING) await ask(lease, capability, 'open', 'a')
  await ask(lease, 'network', 'get', 'pr_0')
  lease.revoke()
  await lease.freed()
  expect(counted.at(-1)).toMatchObject({ issued: HOLDING.length, open: 0, refused: 1 })
})

/** Operations of a capability that are given an id. */
function taking(capability: keyof typeof BROKER_OPERATIONS): readonly string[] {
  return Object.entries(BROKER_OPERATIONS[capability]).flatMap(([name, { input }]) =>
    'shape' in input && Object.hasOwn(input.shape as object, 'opaqueId') ? [name] : [],
  )
}

test('every operation on a program refuses the id of a program of somebody else', async () => {
  const effects = createFakeEffects()
  effects.processes.pipe(() => () => undefined)
  const broker = processBroker({
    effects,
    store: storeWith(effects, []),
    sandbox: { isOn: async () => false, whyMissing: async () => undefined, wrap: async () => ({ unavailable: 'none' }) },
    rules: { decisions: async (_of, _permission, patterns) => patterns.map(() => 'allow') },
    find: async () => '/usr/bin/env',
  })
  const leases = createLeases({ effects, brokers: new Map([['process-spawn', broker]]) })
  const grant = (instanceId: string) =>
    leases.grant(
      { owner: { ...OWNER, instanceId }, place: { scope: 'workspace', workspace: effects.paths.cwd }, declared: {}, listedHosts: [] },
      ['process-spawn'],
    )
  const [mine, other] = [grant('plugin-instance-1'), grant('plugin-instance-2')]
  const { opaqueId } = (await ask(mine, 'process-spawn', 'spawn', { command: ['env'] })) as { opaqueId: string }
  const operations = taking('process-spawn')
  expect(operations).toEqual(['read', 'write', 'wait', 'signal', 'close'])
  for (const operation of operations) {
    const input = { opaqueId, ...(operation === 'signal' && { signal: 'SIGTERM' }), ...(operation === 'write' && { text: 'a' }) }
    const answer = await ask(other, 'process-spawn', operation, input)
    expect([operation, answer]).toEqual([operation, operation === 'close' ? { closed: false } : unknown(opaqueId)])
  }
  await other.brokered('process-spawn')?.cancel(opaqueId, { waits })
  expect(await ask(mine, 'process-spawn', 'wait', { opaqueId, waitMs: 0 })).toMatchObject({ ended: false })
})
