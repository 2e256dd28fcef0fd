// Holds plugin-protocol §2.5, §3.6.
import { describe, expect, test } from 'vitest'
import type { Broker, BrokerLease, GrantedBroker, OpenTable } from '../../../src/actors/plugin/brokers/broker.js'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { OWNER } from './played-link.js'

const waits = () => undefined

function setUp(granted: (lease: BrokerLease) => GrantedBroker) {
  const effects = createFakeEffects()
  const broker: Broker = { grant: granted }
  const leases = createLeases({ effects, brokers: new Map([['network', broker]]) })
  const grant = (instanceId = OWNER.instanceId) =>
    leases.grant({ owner: { ...OWNER, instanceId }, place: { scope: 'workspace', workspace: '/w' }, declared: {}, listedHosts: [] }, [
      'network',
      'config-read',
    ])
  return { effects, grant, leases }
}

/** A broker that opens a thing with each call, and tells what became of them. */
function opening() {
  const ended: string[] = []
  const held: { table?: OpenTable<string> } = {}
  const broker = (lease: BrokerLease): GrantedBroker => {
    held.table = lease.table<string>('exchange', (name) => void ended.push(name))
    return { call: async (name) => held.table?.add(name), cancel: async (id) => void (await held.table?.close(id)) }
  }
  return { broker, ended, held }
}

describe('a lease', () => {
  test('counts its calls, what they leave open, and what was refused', async () => {
    const { broker } = opening()
    const lease = setUp((granted) => {
      const { call, ...rest } = broker(granted)
      return {
        ...rest,
        async call(name, input, how) {
          granted.count(10)
          if (name === 'no') throw new Error('refused')
          return call(name, input, how)
        },
      }
    }).grant()
    const network = lease.brokered('network')
    const id = await network?.call('a', null, { waits })
    await network?.call('b', null, { waits })
    await expect(network?.call('no', null, { waits })).rejects.toThrow('refused')
    await network?.cancel(String(id), { waits })
    expect(lease.counters).toEqual([{ capability: 'network', calls: 4, denied: 1, running: 0, open: 1, bytes: 30 }])
    expect(lease.brokered('config-read')).toBeUndefined()
  })

  test('stands as granted, used or revoked, with when it was used last and what limits it, also where no broker serves it', async () => {
    const { broker } = opening()
    const { effects, grant, leases } = setUp(broker)
    const lease = grant()
    const states = () => lease.standing.map(({ capability, state, calls, denied }) => [capability, state, calls, denied])
    expect(states()).toEqual([
      ['network', 'granted', 0, 0],
      ['config-read', 'granted', 0, 0],
    ])
    await lease.brokered('network')?.call('a', null, { waits })
    lease.note('host.network.request', 'allowed')
    lease.note('host.config.get', 'denied')
    lease.note('host.nonsense', 'denied')
    expect(states()).toEqual([
      ['network', 'used', 1, 0],
      ['config-read', 'used', 1, 1],
    ])
    const { running, open } = LIMITS.brokers
    expect(lease.standing[0]).toMatchObject({ lastUsedAt: effects.clock.now(), runningMost: running, openMost: open, open: 1 })
    expect(leases.quotas(OWNER.pluginId, ['network', 'config-read'])).toEqual([
      { capability: 'network', unit: 'calls', used: 1, limit: LIMITS.brokers.callsPerMinute, per: 'minute' },
    ])
    effects.clock.advance(LIMITS.brokers.minute + 1)
    expect(leases.quotas(OWNER.pluginId, ['network'])).toMatchObject([{ used: 0 }])
    lease.revoke()
    await lease.freed()
    expect(states()).toEqual([
      ['network', 'revoked', 1, 0],
      ['config-read', 'revoked', 1, 1],
    ])
  })

  test('that is revoked ends what is open and what is under way, answers nothing, and is then gone', async () => {
    const { broker, ended } = opening()
    const lease = setUp((granted) => {
      const { call } = broker(granted)
      return {
        call: async (name, input, how) =>
          name === 'hang'
            ? new Promise((_, reject) => how.signal.addEventListener('abort', () => reject(how.signal.reason)))
            : call(name, input, how),
      }
    }).grant()
    const network = lease.brokered('network')
    await network?.call('a', null, { waits })
    const hanging = network?.call('hang', null, { waits })
    lease.revoke()
    await expect(hanging).rejects.toThrow('plugin instance is retired')
    await expect(network?.call('b', null, { waits })).rejects.toThrow('plugin instance is retired')
    await lease.freed()
    expect(ended).toEqual(['a'])
    expect([lease.revoked, lease.brokered('network'), lease.counters]).toEqual([true, undefined, []])
  })

  test('does not answer what was found out when it was revoked meanwhile, and ends what is opened too late', async () => {
    const { broker, ended, held } = opening()
    let go = (): void => undefined
    const lease = setUp((granted) => {
      broker(granted)
      return {
        async call() {
          await new Promise<void>((resolve) => (go = resolve))
          return held.table?.add('late')
        },
      }
    }).grant()
    const call = lease.brokered('network')?.call('a', null, { waits })
    lease.revoke()
    go()
    await expect(call).rejects.toThrow('plugin instance is retired')
    await lease.freed()
    expect(ended).toEqual(['late'])
  })

  test('is over after its time though something does not end, and says so', async () => {
    const { effects, grant } = setUp((granted) => {
      const table = granted.table<string>('exchange', () => new Promise(() => undefined))
      return { call: async (name) => table.add(name) }
    })
    const lease = grant()
    await lease.brokered('network')?.call('a', null, { waits })
    lease.revoke()
    const freed = lease.freed()
    effects.clock.advance(LIMITS.brokers.free)
    await freed
    expect(effects.logs).toEqual([
      expect.objectContaining({ level: 'warn', message: 'what a plugin had open did not end in time' }) as unknown,
    ])
  })

  test('has room for so much at a time, and never the ids of another', async () => {
    const { broker, ended } = opening()
    const { grant } = setUp(broker)
    const [first, second] = [grant('plugin-instance-1'), grant('plugin-instance-2')]
    const ids = new Set<unknown>()
    for (let left = LIMITS.brokers.open; left > 0; left--) ids.add(await first.brokered('network')?.call('a', null, { waits }))
    await expect(first.brokered('network')?.call('over', null, { waits })).rejects.toThrow(`at most ${LIMITS.brokers.open} may be open`)
    expect(ended).toEqual(['over'])
    const other = await second.brokered('network')?.call('b', null, { waits })
    expect([ids.size, ids.has(other)]).toEqual([LIMITS.brokers.open, false])
  })

  test('has so many calls under way, and its package so many a minute, in all its generations', async () => {
    const endings: (() => void)[] = []
    const { effects, grant } = setUp(() => ({
      call: async (name) => (name === 'wait' ? new Promise<void>((resolve) => endings.push(resolve)) : undefined),
    }))
    const lease = grant()
    const waiting = Array.from({ length: LIMITS.brokers.running }, async () => lease.brokered('network')?.call('wait', null, { waits }))
    await expect(lease.brokered('network')?.call('x', null, { waits })).rejects.toThrow('may wait at the same time')
    for (const end of endings) end()
    await Promise.all(waiting)
    for (let used = waiting.length; used < LIMITS.brokers.callsPerMinute; used++)
      await lease.brokered('network')?.call('x', null, { waits })
    await expect(grant('plugin-instance-2').brokered('network')?.call('x', null, { waits })).rejects.toThrow('times a minute')
    effects.clock.advance(LIMITS.brokers.minute + 1)
    await lease.brokered('network')?.call('x', null, { waits })
  })
})
