// Holds choice 22.
import { expect, it } from 'vitest'
import { reviewApprovals } from '../../../src/actors/plugin/entry/trust-review.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'

const ID = 'dev.example.one'
const NONE: ReadonlySet<HostCapability> = new Set()

const approval = (capabilities: readonly string[], more: object = {}) => ({
  workspaceId: '/w',
  packageId: ID,
  revision: 'sha256:1',
  capabilities,
  executableApproved: true,
  ...more,
})
const document = (...trust: readonly object[]) => ({ plugins: { [ID]: { options: { trust } } } })
const review = (before: object, after: object, brokered = NONE) => reviewApprovals({ ...before }, { ...after }, brokered)

it('refuses a new approval of what no broker provides here, and says which', () => {
  for (const after of [document(approval(['config-read', 'secret-read'])), { plugin: [[ID, { trust: approval(['secret-read']) }]] }])
    expect(() => review({}, after)).toThrow(`${ID} cannot be approved: no broker here for secret-read in the scope workspace`)
  expect(() => review({}, document(approval(['workspace-read'], { scope: 'session' })))).toThrow('in the scope session')
  expect(() => review({}, document(approval(['network'], { luaApproved: true, executableApproved: false })))).toThrow('network')
})

it('accepts what is provided, and leaves approvals that were written earlier', () => {
  const old = approval(['secret-read'])
  expect(() => review({}, document(approval(['config-read', 'network'])))).not.toThrow()
  expect(() => review({}, document(old), new Set<HostCapability>(['secret-read']))).not.toThrow()
  expect(() => review(document(old), document(old, approval(['config-read'], { revision: 'sha256:2' })))).not.toThrow()
  expect(() => review(document(old), document(approval(['secret-read'], { revision: 'sha256:2' })))).toThrow('no broker here')
})
