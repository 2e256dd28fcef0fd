/** Version control of directories: `dev.svc.vcs` (http-contract §2.17, §5.8; subsystems h). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { VcsApplyRequest, type VcsInfo, vcsRoutes } from '../../protocol/vcs/vcs.js'
import { applyPatch } from './apply.js'
import { type Branches, createBranches } from './branches.js'
import { rawPatch } from './changes.js'
import { diffOf, statusOf } from './views.js'

export function vcsPlugin(): NativePlugin {
  let stop: () => Promise<void> = async () => undefined
  return {
    id: 'dev.svc.vcs',
    name: 'Version control',
    capability: { id: 'svc.vcs', apiPrefix: '/v2/plugins/dev.svc.vcs' },
    eventNamespaces: ['vcs'],
    start(host) {
      const branches = createBranches(host)
      stop = async () => branches.stop()
      return { operations: operationsOf(host, branches) }
    },
    stop: () => stop(),
  }
}

function operationsOf(host: NativeHost, branches: Branches): NonNullable<ReturnType<NativePlugin['start']>['operations']> {
  const { effects, git, rows } = host
  const open = async (directory: string) => {
    const checkout = await git.open(directory)
    if (checkout !== undefined) branches.used(checkout)
    return checkout
  }
  return {
    async [vcsRoutes.get.id]({ directory }): Promise<VcsInfo> {
      const checkout = await open(directory)
      if (checkout === undefined) return {}
      const { branch, defaultBranch } = checkout
      return { ...(branch !== undefined && { branch }), ...(defaultBranch !== undefined && { default_branch: defaultBranch }) }
    },
    async [vcsRoutes.status.id]({ directory, signal }) {
      const checkout = await open(directory)
      return checkout === undefined ? [] : statusOf(effects, checkout, signal)
    },
    async [vcsRoutes.diff.id]({ directory, signal }) {
      const checkout = await open(directory)
      return checkout === undefined ? [] : diffOf(checkout, signal)
    },
    async [vcsRoutes.rawDiff.id]({ directory, signal }) {
      const checkout = await open(directory)
      return checkout === undefined ? new Uint8Array() : rawPatch(checkout, signal)
    },
    async [vcsRoutes.apply.id]({ directory, body, signal }) {
      const { patch, diff, content } = VcsApplyRequest.parse(body)
      const checkout = (await open(directory)) ?? (await git.apart(directory))
      const result = await applyPatch(host, checkout, { text: patch ?? diff ?? content ?? '', directory }, signal)
      if (result.success) rows.commit('process', (tx) => tx.emit('vcs.updated', { directory }))
      return result
    },
  }
}
