/** Acts that let language servers of a workspace start, and their taking back (choice 34). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import type { RowsChange } from '../../ports/doors.js'
import type { ProjectProgram } from '../../ports/programs.js'
import { AcceptRequest } from '../../protocol/acceptance/acceptance.js'
import { SvcError } from '../../protocol/errors.js'
import { LspServerParams, lspRoutes } from '../../protocol/lsp/lsp.js'
import type { Adapters } from './configured.js'
import type { Clients } from './clients/clients.js'
import type { ProgramOf } from './programs.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>

interface AcceptanceDeps {
  readonly host: Pick<NativeHost, 'config' | 'programs'>
  readonly adapters: Adapters
  readonly programOf: ProgramOf
  readonly clients: Pick<Clients, 'retire'>
}

export function acceptanceOperations({ host, adapters, programOf, clients }: AcceptanceDeps): Operations {
  const { programs } = host

  async function mustFind(directory: string, server: string): Promise<ProjectProgram> {
    const adapter = adapters((await host.config(directory))['lsp']).find(({ id }) => id === server)
    if (adapter === undefined) throw new SvcError('resource.not_found', `There is no language server "${server}".`, { server })
    const program = adapter.fault === undefined ? await programOf(directory, adapter) : undefined
    if (program !== undefined) return program
    const why = adapter.fault === undefined ? 'it runs already, and is only reached' : `its entry cannot be used: ${adapter.fault}`
    throw new SvcError('request.unprocessable', `Nothing is started for the language server "${server}": ${why}.`, { server })
  }

  return {
    [lspRoutes.acceptances.id]: async ({ directory }) => programs.accepted(directory),
    async [lspRoutes.accept.id]({ directory, params, body }) {
      const { server } = LspServerParams.parse(params)
      return programs.accept(await mustFind(directory, server), { ...AcceptRequest.parse(body ?? {}), along: updated })
    },
    async [lspRoutes.takeBack.id]({ directory, params }) {
      const { server } = LspServerParams.parse(params)
      const removed = programs.takeBack({ kind: 'language-server', name: server, directory }, updated)
      if (removed) await clients.retire((each) => each === directory, server)
      return { removed }
    },
  }
}

/** The rows of the status are others now. */
export function updated(tx: RowsChange): void {
  tx.emit('lsp.updated', {})
}
