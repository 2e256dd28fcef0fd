// Holds plugin-protocol §2.2, §2.4.
import { describe, expect, it } from 'vitest'
import { type Applicant, approvesPlace, authorize, intersectCapabilities } from '../../../src/machines/plugin/capability.js'
import {
  type AgentTarget,
  HOST_CAPABILITIES,
  type HostCapability,
  type PluginScope,
  TrustRecord,
} from '../../../src/protocol/plugin/plugin.js'

const SCOPES = ['workspace', 'global', 'user', 'session'] as const

/** Where a host without brokers provides each capability, by scope in the order above, to programs. */
const PROVIDED: Readonly<Partial<Record<HostCapability, readonly boolean[]>>> = {
  'config-read': [true, true, true, true],
  'config-write': [true, true, true, true],
  'workspace-read': [true, false, false, false],
  'workspace-write': [true, false, false, false],
  'event-publish': [true, true, true, true],
  network: [true, false, false, false],
}

/** Everything that can be said about one capability, and what has to come of it. */
const TABLE = HOST_CAPABILITIES.flatMap((capability) =>
  SCOPES.flatMap((scope, column) =>
    (['process', 'lua'] as const).flatMap((runtime) =>
      [true, false].flatMap((declared) =>
        [true, false, undefined].flatMap((trusted) =>
          [true, false].map((brokered) => {
            const isOwn = PROVIDED[capability]?.[column] === true && !(capability === 'network' && runtime === 'lua')
            const wanted = declared && trusted !== false
            const expected = { granted: wanted && (brokered || isOwn), unbrokered: wanted && !brokered && !isOwn }
            return { capability, scope, runtime, declared, trusted, brokered, expected }
          }),
        ),
      ),
    ),
  ),
)

describe('a capability', () => {
  it('is granted when it is declared, trusted and something here provides it in the scope, and never by name only', () => {
    expect(TABLE).toHaveLength(15 * 4 * 2 * 2 * 3 * 2)
    const wrong = TABLE.filter(({ capability, scope, runtime, declared, trusted, brokered, expected }) => {
      const list = (holds: boolean): HostCapability[] => (holds ? [capability] : [])
      const answer = intersectCapabilities({
        declared: list(declared),
        trusted: trusted === undefined ? undefined : list(trusted),
        scope,
        runtime,
        brokered: new Set(list(brokered)),
      })
      return JSON.stringify(answer) !== JSON.stringify({ granted: list(expected.granted), unbrokered: list(expected.unbrokered) })
    })
    expect(wrong).toEqual([])
  })

  it('is told once, in the order of declaration, whatever else is trusted or brokered', () => {
    const answer = intersectCapabilities({
      declared: ['task-spawn', 'config-read', 'network', 'config-read', 'policy-invoke', 'secret-read'],
      trusted: HOST_CAPABILITIES,
      scope: 'workspace',
      runtime: 'process',
      brokered: new Set<HostCapability>(['task-spawn', 'secret-use']),
    })
    expect(answer).toEqual({ granted: ['task-spawn', 'config-read', 'network'], unbrokered: ['policy-invoke', 'secret-read'] })
  })
})

const REVISION = `sha256:${'a'.repeat(64)}`
const DIGEST = `sha256:${'d'.repeat(64)}`

function applicant(scope: PluginScope, change: Partial<Applicant> = {}, target: Partial<AgentTarget> = {}): Applicant {
  const isInWorkspace = scope === 'workspace' || scope === 'session'
  return {
    packageId: 'dev.example.one',
    revision: REVISION,
    digest: DIGEST,
    source: 'user',
    target: { runtime: 'process', entrypoint: 'run', command: [], capabilities: ['config-read'], scope, eventNamespaces: [], ...target },
    place: {
      scope,
      workspaceId: isInWorkspace ? '/w' : undefined,
      scopeId: scope === 'session' ? 'ses_1' : scope === 'user' ? 'ada' : undefined,
    },
    ...change,
  }
}

const trust = (change: object = {}): TrustRecord =>
  TrustRecord.parse({
    workspaceId: '/w',
    packageId: 'dev.example.one',
    revision: REVISION,
    digest: DIGEST,
    capabilities: ['config-read'],
    executableApproved: true,
    ...change,
  })

describe('an approval', () => {
  it.each([
    ['workspace', {}],
    ['workspace', { scope: 'workspace', capabilities: ['network', 'config-read'] }],
    ['session', { scopeId: 'ses_1' }],
    ['user', { workspaceId: '', scopeId: 'ada' }],
    ['global', { workspaceId: 'anything' }],
  ] as const)('fits a package of the scope %s: %j', (scope, change) => {
    expect(authorize(applicant(scope), [trust(change)])).toMatchObject({ ok: true })
  })

  it.each([
    ['another package', 'workspace', { packageId: 'dev.example.two' }, 'dev.example.two'],
    ['another scope', 'workspace', { scope: 'global' }, 'the scope global'],
    ['another workspace', 'workspace', { workspaceId: '/other' }, '/other'],
    ['another session', 'session', { scopeId: 'ses_2' }, 'another session'],
    ['no session', 'session', {}, 'another session'],
    ['another user', 'user', { scopeId: 'eve' }, 'another user'],
    ['other content', 'workspace', { revision: `sha256:${'b'.repeat(64)}` }, 'bbbb'],
    ['other content of the same revision', 'workspace', { digest: `sha256:${'b'.repeat(64)}` }, 'other content of the same revision'],
    ['nobody knows what of a revision', 'workspace', { digest: undefined }, 'has no digest'],
    ['fewer capabilities', 'workspace', { capabilities: [] }, 'config-read'],
    ['no program', 'workspace', { executableApproved: false }, 'executableApproved'],
    ['Lua only', 'workspace', { executableApproved: false, luaApproved: true }, 'executableApproved'],
  ] as const)('for %s does not fit', (_what, scope, change, reason) => {
    expect(authorize(applicant(scope), [trust(change)])).toEqual({ ok: false, reason: expect.stringContaining(reason) as string })
  })

  describe('of native code', () => {
    const part = { entrypoint: 'plugin.js', apiVersion: 2 }
    const native = (change: object = {}) => applicant('workspace', {}, { native: { ...part, ...change } })
    const only = { executableApproved: false, nativeApproved: true }

    it('is enough by itself, and has the native part run', () => {
      expect(authorize(native(), [trust(only)])).toMatchObject({ ok: true, isNative: true })
      expect(authorize(native(), [trust()])).toMatchObject({ ok: true, isNative: false })
    })

    it('says nothing of a package without such a part', () => {
      expect(authorize(applicant('workspace'), [trust(only)])).toEqual({
        ok: false,
        reason: expect.stringContaining('executableApproved') as string,
      })
      expect(authorize(applicant('workspace'), [trust({ nativeApproved: true })])).toMatchObject({ ok: true, isNative: false })
    })

    it('names its content, and is for the interface that this server has', () => {
      expect(authorize(native(), [trust({ ...only, digest: undefined })])).toMatchObject({ ok: false })
      expect(authorize(native({ apiVersion: 3 }), [trust(only)])).toEqual({
        ok: false,
        reason: 'its native part is for the native API 3; this server has 2',
      })
    })
  })

  it('of a program is none of a script', () => {
    const script = applicant('workspace', {}, { runtime: 'lua' })
    expect(authorize(script, [trust()])).toEqual({ ok: false, reason: expect.stringContaining('luaApproved') as string })
    expect(authorize(script, [trust({ luaApproved: true })])).toMatchObject({ ok: true })
  })

  it('never lets a package of a workspace serve everybody', () => {
    for (const scope of ['user', 'global'] as const) {
      const found = applicant(scope, { source: 'workspace' })
      expect(authorize(found, [trust({ workspaceId: '', scopeId: 'ada' })])).toMatchObject({ ok: false })
    }
  })

  it('never fits a manifest whose scope is not the one it runs in', () => {
    expect(authorize(applicant('workspace', {}, { scope: 'global' }), [trust()])).toMatchObject({ ok: false })
  })

  it('is found among others, and without one the reason is that of the record that came furthest', () => {
    const others = [trust({ packageId: 'dev.example.two' }), trust({ capabilities: [] }), trust({ workspaceId: '/other' })]
    expect(authorize(applicant('workspace'), [...others, trust()])).toMatchObject({ ok: true })
    expect(authorize(applicant('workspace'), others)).toEqual({ ok: false, reason: 'the capability config-read is not approved' })
    expect(authorize(applicant('workspace'), [])).toEqual({ ok: false, reason: 'external trust is required' })
  })

  it('of earlier content is one for the place, unless it is for another place', () => {
    const { revision: _now, ...place } = applicant('workspace')
    const before = { revision: `sha256:${'b'.repeat(64)}` }
    expect(approvesPlace(place, trust(before))).toBe(true)
    expect(approvesPlace(place, trust({ ...before, capabilities: [] }))).toBe(true)
    expect(approvesPlace(place, trust({ ...before, workspaceId: '/other' }))).toBe(false)
    expect(approvesPlace(place, trust({ ...before, packageId: 'dev.example.two' }))).toBe(false)
  })
})
